"""The server: takes what editors say and ask, by the Language Server Protocol.

The dialects are loaded once it has answered the first request.
"""

from __future__ import annotations

import asyncio
import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from ..other_process import NoAnswer, OtherProcess
from . import checked

if TYPE_CHECKING:
    from .document import Document

TIME_LIMIT = 60.0
"""Seconds that the check of one text may take."""
PAUSE = 0.15
"""Seconds without typing before a text is checked."""
PATIENCE = 2.0
"""Seconds after which the check of a text that has changed is given up."""

_REQUEST_FAILED = -32803
"""The protocol's code for a request that is right, but cannot be met."""

_COMPLETION = types.CompletionOptions(
    trigger_characters=["%", "@", "^", "#", ".", "=", "{", ",", "-"], resolve_provider=True
)
_ANSWERS = (
    (types.TEXT_DOCUMENT_HOVER, "hover", None),
    (types.TEXT_DOCUMENT_DEFINITION, "definition", None),
    (types.TEXT_DOCUMENT_REFERENCES, "references", None),
    (types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, "highlight", None),
    (types.TEXT_DOCUMENT_PREPARE_RENAME, "prepare_rename", None),
    (types.TEXT_DOCUMENT_RENAME, "rename", types.RenameOptions(prepare_provider=True)),
    (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, "outline", None),
    (types.TEXT_DOCUMENT_FORMATTING, "formatting", None),
    (types.TEXT_DOCUMENT_COMPLETION, "completion", _COMPLETION),
    (types.TEXT_DOCUMENT_CODE_ACTION, "code_actions", None),
)
"""The requests about a text, the functions of `features` that answer, and their options."""


@cache
def _features() -> Any:
    """What needs the dialects."""
    return import_module(f"{__package__}.features")


class XlaLanguageServer(LanguageServer):
    """
    A server with the texts that are open. Another process checks one of them at a time, after it
    has changed.
    """

    def __init__(self) -> None:
        super().__init__("xla-lsp-server", "1", max_workers=2)
        self.documents: dict[str, Document] = {}
        self.exit_code = 1
        """0 once the client has said that it will go, as the protocol wants it."""
        self._checker = OtherProcess(checked, TIME_LIMIT)
        self._checks = ThreadPoolExecutor(1)
        """The thread that asks the other process."""
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def shutdown(self) -> NoReturn:
        """Ends the process, whatever is still loaded, checked or answered."""
        self._checker.kill()
        os._exit(self.exit_code)

    @property
    def takes_snippets(self) -> bool:
        """Whether the editor goes through the placeholders of what is completed."""
        text = self.client_capabilities.text_document
        item = text and text.completion and text.completion.completion_item
        return bool(item and item.snippet_support)

    def document(self, uri: str) -> Document:
        """The latest version of a text, with what was last found in an earlier one."""
        source = self.workspace.get_text_document(uri)
        text, known = source.source, self.documents.get(uri)
        if known is not None and known.text == text:
            return known
        latest: Document = _features().Document(
            text, source.path or uri, source.position_codec, takes_snippets=self.takes_snippets
        )
        if known is not None:
            latest.findings = known.findings
        self.documents[uri] = latest
        return latest

    def warm_up(self) -> None:
        """Starts the process that checks and loads the dialects, before the first text needs it."""
        self._checks.submit(self._checker.ask, ("", "warm_up.mlir"))
        self.thread_pool.submit(_features)

    def changed(self, uri: str, pause: float = PAUSE) -> None:
        """A text is new or has changed: it is checked, unless it changes again within a pause."""
        self.closed(uri)
        self._tasks[uri] = asyncio.create_task(self._check(uri, pause))

    def closed(self, uri: str) -> None:
        """A text is no longer open, or another one: it need not be checked."""
        if uri in self._tasks:
            self._tasks.pop(uri).cancel()

    async def _check(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        document = self.document(uri)
        check = self._checks.submit(self._checker.ask, (document.text, document.file_name))
        try:
            document.findings = await asyncio.wrap_future(check)
        except NoAnswer as error:
            document.findings = _features().not_checked(f"the check of this text: {error}")
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(PATIENCE, self._give_up, check)
            raise
        version = self.workspace.get_text_document(uri).version
        problems = _features().diagnostics(document)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, problems, version=version)
        )

    def _give_up(self, check: Future[Any]) -> None:
        if not check.done():
            self._checker.kill()


def make_server() -> XlaLanguageServer:
    """A server that answers everything that it says it can."""
    server = XlaLanguageServer()
    for feature, name, options in _ANSWERS:
        server.feature(feature, options)(server.thread()(_answering(server, name)))
    server.feature(types.COMPLETION_ITEM_RESOLVE)(server.thread()(_resolve))
    for feature, take in _NOTIFICATIONS.items():
        server.feature(feature)(take)
    return server


def _answering(server: XlaLanguageServer, name: str) -> Any:
    """The function for a request; an error that is meant for the user is that of the request."""

    def answer(params: Any) -> Any:
        try:
            document = server.document(params.text_document.uri)
        except (OSError, UnicodeError):
            return None  # A text that is not open, and cannot be read.
        try:
            return getattr(_features(), name)(document, params)
        except _features().XlaError as error:
            raise JsonRpcException(str(error), _REQUEST_FAILED) from None

    return answer


def _resolve(item: types.CompletionItem) -> types.CompletionItem:
    return _features().resolved(item)


def _initialized(ls: XlaLanguageServer, _: types.InitializedParams) -> None:
    ls.warm_up()


def _shutdown(ls: XlaLanguageServer, _: None) -> None:
    ls.exit_code = 0


async def _did_open(ls: XlaLanguageServer, params: types.DidOpenTextDocumentParams) -> None:
    ls.changed(params.text_document.uri, 0.0)


async def _did_change(ls: XlaLanguageServer, params: types.DidChangeTextDocumentParams) -> None:
    ls.changed(params.text_document.uri)


async def _did_save(ls: XlaLanguageServer, params: types.DidSaveTextDocumentParams) -> None:
    ls.changed(params.text_document.uri, 0.0)


async def _did_close(ls: XlaLanguageServer, params: types.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    ls.closed(uri)
    ls.documents.pop(uri, None)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


_NOTIFICATIONS: dict[str, Any] = {
    types.INITIALIZED: _initialized,
    types.SHUTDOWN: _shutdown,
    types.TEXT_DOCUMENT_DID_OPEN: _did_open,
    types.TEXT_DOCUMENT_DID_CHANGE: _did_change,
    types.TEXT_DOCUMENT_DID_SAVE: _did_save,
    types.TEXT_DOCUMENT_DID_CLOSE: _did_close,
}


def serve(port: int | None) -> None:
    """Runs the server on a port of 127.0.0.1, or without one on stdin and stdout."""
    server = make_server()
    if port is not None:
        server.start_tcp("127.0.0.1", port)
        return
    # Of its own: the server closes it, and nothing else shall be printed there.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    with redirect_stdout(sys.stderr):
        server.start_io(stdout=output)
