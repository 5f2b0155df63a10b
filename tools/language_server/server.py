"""The server: takes what editors say and ask, by the Language Server Protocol.

The dialects are loaded once it has answered the first request.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from io import BufferedReader, FileIO
from typing import TYPE_CHECKING, Any, NoReturn

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

if TYPE_CHECKING:
    from .document import Document


TIME_LIMIT = 60.0
"""Seconds that the check of one text may take."""
_LONGEST_REPLY = 1 << 28
"""Bytes."""


class Checker:
    """A process that checks one text at a time."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def check(self, text: str, file: str) -> dict[str, Any]:
        """
        The findings of `checking.check` as a dictionary.

        A check that takes too long, or ends its process, is a problem of the text. One that is
        cancelled ends the process, and the next starts another.
        """
        async with self._lock:
            try:
                process = await self._started()
                assert process.stdin is not None and process.stdout is not None
                process.stdin.write(json.dumps({"text": text, "file": file}).encode() + b"\n")
                await process.stdin.drain()
                async with asyncio.timeout(TIME_LIMIT):
                    reply = await process.stdout.readline()
                return json.loads(reply)
            except TimeoutError:
                self.stop()
                return _failure(f"checking took more than {TIME_LIMIT:.0f} seconds and was stopped")
            except (OSError, ValueError):
                self.stop()
                return _failure("the process that checks programs has ended")
            except asyncio.CancelledError:
                self.stop()
                raise

    async def warm_up(self) -> None:
        """Starts the process, which loads what it needs before it is first asked."""
        async with self._lock:
            await self._started()

    def stop(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", f"{__package__}.checking"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_LONGEST_REPLY,
            )
        return self._process


def _failure(message: str) -> dict[str, Any]:
    problem = {"line": 0, "column": 0, "message": message, "severity": "error", "rule": ""}
    return {"problems": [problem], "types": {}}


PAUSE = 0.15
"""Seconds without typing before a text is checked."""
PATIENCE = 2.0
"""Seconds after which the check of a text that has changed is given up."""


class Diagnostics:
    """Follows open texts: checks each after it has changed, and hands over what was found."""

    def __init__(self, find: Callable[[str], Document | None], found: Callable[..., None]):
        """`find` gives the latest version of a text; `found` takes its address and findings."""
        self._find = find
        self._found = found
        self._checker = Checker()
        self._changed: dict[str, float] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def warm_up(self) -> None:
        """Starts the process that checks."""
        await self._checker.warm_up()

    def stop(self) -> None:
        """Ends all checks."""
        for task in self._tasks.values():
            task.cancel()
        self._checker.stop()

    def changed(self, uri: str, *, at_once: bool = False) -> None:
        """A text is new or has changed."""
        now = asyncio.get_running_loop().time()
        self._changed[uri] = now - PAUSE if at_once else now
        task = self._tasks.get(uri)
        if task is None or task.done():
            self._tasks[uri] = asyncio.create_task(self._follow(uri))

    def closed(self, uri: str) -> None:
        """A text is no longer open."""
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()
        self._changed.pop(uri, None)

    async def _follow(self, uri: str) -> None:
        """Checks a text until what was found is about its latest version."""
        loop = asyncio.get_running_loop()
        while True:
            while (rest := self._changed[uri] + PAUSE - loop.time()) > 0:
                await asyncio.sleep(rest)
            seen = self._changed[uri]
            document = self._find(uri)
            if document is None:
                return
            check = asyncio.create_task(self._checker.check(document.text, document.file_name))
            try:
                await asyncio.wait({check}, timeout=PATIENCE)
                while not check.done() and self._changed[uri] == seen:
                    await asyncio.wait({check}, timeout=PAUSE)
            finally:
                if not check.done():
                    check.cancel()
            if self._changed[uri] == seen and not check.cancelled():
                self._found(uri, document, await check)
                return


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


class _Input(BufferedReader):
    """What the client writes; a client that has gone without a word ends the server."""

    def __init__(self, file: FileIO, at_end: Callable[[], None]):
        super().__init__(file)
        self._at_end = at_end

    def readline(self, size: int | None = -1, /) -> bytes:
        """The next line; does not return at the end."""
        line = super().readline(size)
        if not line:
            self._at_end()
        return line


class XlaLanguageServer(LanguageServer):
    """A server with the texts that are open, and what was found in them."""

    def __init__(self) -> None:
        super().__init__("xla-lsp-server", "1", max_workers=2)
        self.documents: dict[str, Document] = {}
        self.diagnostics = Diagnostics(self.find, self.publish)
        self.is_shut_down = False

    def end(self) -> NoReturn:
        """
        Ends the process, whatever is still loaded, checked or answered; its exit code is 0 if the
        client has asked for that before, as the protocol wants it.
        """
        self.diagnostics.stop()
        os._exit(0 if self.is_shut_down else 1)

    @property
    def takes_snippets(self) -> bool:
        """Whether the editor goes through the placeholders of what is completed."""
        text = self.client_capabilities.text_document
        item = text and text.completion and text.completion.completion_item
        return bool(item and item.snippet_support)

    def document(self, uri: str) -> Document:
        """The latest version of a text, with what was last found in an earlier one."""
        source = self.workspace.get_text_document(uri)
        text = source.source
        known = self.documents.get(uri)
        if known is None or known.text != text:
            encoding = self.workspace.position_encoding
            name = str(getattr(encoding, "value", encoding))
            latest: Document = _features().Document(
                text, source.path or uri, name, takes_snippets=self.takes_snippets
            )
            if known is not None:
                latest.findings = known.findings
            known = self.documents[uri] = latest
        return known

    def find(self, uri: str) -> Document | None:
        """A text if it is open."""
        return self.document(uri) if uri in self.workspace.text_documents else None

    def publish(self, uri: str, document: Document, findings: dict[str, Any]) -> None:
        """Shows what was found in a version of a text."""
        document.findings = findings
        problems = [_features().diagnostic(document, problem) for problem in findings["problems"]]
        version = self.workspace.get_text_document(uri).version
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, problems, version=version)
        )


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


async def _initialized(ls: XlaLanguageServer, _: types.InitializedParams) -> None:
    """Starts the process that checks and loads the dialects, so that the first text finds them."""
    await ls.diagnostics.warm_up()
    await asyncio.get_running_loop().run_in_executor(ls.thread_pool, _features)


def _shutdown(ls: XlaLanguageServer, _: None) -> None:
    ls.is_shut_down = True
    ls.diagnostics.stop()


def _exit(ls: XlaLanguageServer, _: None) -> None:
    ls.end()


async def _did_open(ls: XlaLanguageServer, params: types.DidOpenTextDocumentParams) -> None:
    ls.diagnostics.changed(params.text_document.uri, at_once=True)


async def _did_change(ls: XlaLanguageServer, params: types.DidChangeTextDocumentParams) -> None:
    ls.diagnostics.changed(params.text_document.uri)


async def _did_save(ls: XlaLanguageServer, params: types.DidSaveTextDocumentParams) -> None:
    ls.diagnostics.changed(params.text_document.uri, at_once=True)


async def _did_close(ls: XlaLanguageServer, params: types.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    ls.diagnostics.closed(uri)
    ls.documents.pop(uri, None)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


_NOTIFICATIONS: dict[str, Any] = {
    types.INITIALIZED: _initialized,
    types.SHUTDOWN: _shutdown,
    types.EXIT: _exit,
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
        source = _Input(FileIO(sys.stdin.fileno(), closefd=False), server.end)
        server.start_io(source, output)
