"""An editor for the tests of the language server: a client of pygls, over stdin and stdout."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

T = TypeVar("T")
SECONDS = 60.0


class Client(LanguageClient):
    """A client that keeps what is told of texts, and how its server ended."""

    def __init__(self) -> None:
        super().__init__("test", "1")
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.exit_code: int | None = None

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.published.put_nowait(params)

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        self.exit_code = server.returncode


class Editor:
    """Starts a server and asks it; every call waits for the answer."""

    def __init__(
        self,
        encodings: list[types.PositionEncodingKind] | None = None,
        *,
        takes_snippets: bool = False,
    ) -> None:
        self.loop = asyncio.new_event_loop()
        self.client = Client()
        self.published = self.client.published
        self.versions: dict[str, int] = {}
        server = ["-m", "xla_dialect_tools.xla_lsp_server", "--stdio"]
        self.wait(self.client.start_io(sys.executable, *server))
        general = types.GeneralClientCapabilities(position_encodings=encodings)
        item = types.ClientCompletionItemOptions(snippet_support=takes_snippets)
        completion = types.CompletionClientCapabilities(completion_item=item)
        text = types.TextDocumentClientCapabilities(completion=completion)
        capabilities = types.ClientCapabilities(general=general, text_document=text)
        self.capabilities = self.wait(
            self.client.initialize_async(types.InitializeParams(capabilities=capabilities))
        ).capabilities
        self.client.initialized(types.InitializedParams())

    def wait(self, answer: Awaitable[T]) -> T:
        return self.loop.run_until_complete(asyncio.wait_for(answer, SECONDS))

    def close(self) -> int | None:
        """Ends the server as the protocol says; returns its exit code."""
        self.wait(self.client.shutdown_async(None))
        self.client.exit(None)
        self.wait(self.client.stop())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        return self.client.exit_code

    def open(self, name: str, text: str) -> tuple[str, list[types.Diagnostic]]:
        """Opens a text; returns its address and what is found in it."""
        uri = f"file:///{name}"
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, "mlir", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri, self.diagnostics(uri)

    def type(self, uri: str, line: int, column: int, text: str, removed: int = 0) -> None:
        """Types something at a place, in place of characters of that line."""
        self.versions[uri] += 1
        place = types.Range(types.Position(line, column), types.Position(line, column + removed))
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=self.versions[uri], uri=uri),
                [types.TextDocumentContentChangePartial(range=place, text=text)],
            )
        )

    def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """What is found in the latest version of a text, once that is told."""
        while True:
            found = self.wait(self.published.get())
            if found.uri == uri and found.version == self.versions[uri]:
                return list(found.diagnostics)

    def ask(self, request: Callable[[Any], Awaitable[T]], params: Any) -> T:
        return self.wait(request(params))


def place_of(text: str, needle: str, shift: int = 0) -> types.Position:
    """Line and column, in characters, of the one place where a text has another, and beyond it."""
    assert text.count(needle) == 1, needle
    offset = text.index(needle) + shift
    line = text.count("\n", 0, offset)
    return types.Position(line, offset - (text.rfind("\n", 0, offset) + 1))


def edited(text: str, edits: list[types.TextEdit]) -> str:
    """A text after edits; columns count characters."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def offset(place: types.Position) -> int:
        return starts[place.line] + place.character

    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character))[::-1]:
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text
