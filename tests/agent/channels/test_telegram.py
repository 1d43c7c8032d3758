"""Telegram, over a server on loopback that speaks the Bot API."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.agent.channels.conftest import TruncatedResponse, eventually, served
from tests.loopback import Handler, serving

if TYPE_CHECKING:
    from starlette.requests import Request

TOKEN = "123456:AAtelegram-token-of-a-test"
ENV = {"TELEGRAM_TOKEN": TOKEN}
ANN, EVE = 71, 99


class BotApi:
    """Holds updates until they are confirmed, and records what the bot sent."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.calls: list[str] = []
        self.trouble: list[Any] = []  # answers to sendMessage
        self.polls: list[Any] = []
        self._numbers = 0
        self.app = Starlette(
            routes=[
                Route("/bot{token}/{method}", self.method, methods=["POST"]),
                Route("/file/bot{token}/{path:path}", self.file),
            ]
        )

    def write(self, text: str = "", sender: int = ANN, **more: Any) -> None:
        """Have somebody write to the bot."""
        self._numbers += 1
        user = {"id": sender, "is_bot": False, "first_name": "Ann", "username": f"u{sender}"}
        message = {
            "message_id": self._numbers,
            "date": 0,
            "chat": {"id": sender, "type": "private"},
        }
        message |= {"from": user, **({"text": text} if text else {}), **more}
        self.updates.append({"update_id": 500 + self._numbers, "message": message})

    def press(self, data: str, sender: int = ANN) -> None:
        self._numbers += 1
        pressed = {"id": f"cb{self._numbers}", "from": {"id": sender, "first_name": "Ann"}}
        pressed |= {"data": data, "message": {"message_id": 1, "chat": {"id": ANN}}}
        self.updates.append({"update_id": 500 + self._numbers, "callback_query": pressed})

    def __repr__(self) -> str:
        return f"{self.sent} {self.calls[-9:]} {self.updates}"

    def texts(self) -> list[str]:
        return [one["text"] for one in self.sent if "text" in one]

    async def method(self, request: Request) -> Response:
        method = request.path_params["method"]
        self.calls.append(method)
        if request.path_params["token"] != TOKEN:
            return JSONResponse(
                {"ok": False, "error_code": 401, "description": "Unauthorized"}, 401
            )
        if method == "sendDocument":
            async with request.form() as form:
                upload: Any = form["document"]
                self.sent.append({"file": upload.filename, "body": await upload.read()})
            return _ok({"message_id": 1})
        body = await request.json() if await request.body() else {}
        if method == "getUpdates":
            return await self._updates(body)
        if method == "sendMessage":
            if self.trouble:
                answer = self.trouble.pop(0)
                if isinstance(answer, TruncatedResponse):
                    self.sent.append(body)
                return answer
            self.sent.append(body)
        if method == "getMe":
            return _ok({"id": 1, "is_bot": True, "username": "urchin_bot"})
        if method == "getFile":
            return _ok({"file_id": body["file_id"], "file_path": f"docs/{body['file_id']}"})
        return _ok(True)

    async def _updates(self, body: dict[str, Any]) -> Response:
        if self.polls:
            return self.polls.pop(0)
        self.updates = [u for u in self.updates if u["update_id"] >= body["offset"]]
        if not self.updates:
            await asyncio.sleep(0.01)
        return _ok(self.updates)

    async def file(self, request: Request) -> Response:
        return Response(self.files[request.path_params["path"].removeprefix("docs/")])


def _ok(result: Any) -> Response:
    return JSONResponse({"ok": True, "result": result})


async def test_telegram_conversation_survives_failed_polls(desk) -> None:
    api = BotApi()
    async with (
        served(api.app) as url,
        desk.running("telegram", ENV, url=url, allow=[str(ANN)], poll=0),
    ):
        api.polls = [TruncatedResponse()]
        api.write("Who repaired the pump of Skarholm?")
        await eventually(lambda: len(api.sent) == 1, desk.said, api)
        assert "Ida Holm" in api.texts()[0]
        assert "[1] The pump" in api.texts()[0]
        assert api.sent[0]["link_preview_options"] == {"is_disabled": True}
        assert api.sent[0]["reply_parameters"]["message_id"] == 1
        api.polls = [
            TruncatedResponse(),
            JSONResponse({"ok": False, "description": "Bad Gateway"}, 502),
        ]
        api.write("When was it built?")
        await eventually(lambda: len(api.sent) == 2, desk.said, api)
        assert "1911" in api.texts()[1]
        api.write("/report html")
        await eventually(lambda: len(api.sent) == 3, desk.said, api)
    assert api.sent[2]["file"].endswith(".html")
    assert b"1911" in api.sent[2]["body"]


async def test_redelivered_updates_after_restart_are_not_answered_twice(desk) -> None:
    api = BotApi()
    flags = {"allow": [str(ANN)], "poll": 0}
    async with served(api.app) as url:
        async with desk.running("telegram", ENV, url=url, **flags):
            api.write("Who repaired the pump of Skarholm?")
            again = list(api.updates)
            await eventually(lambda: len(api.sent) == 1, desk.said, api)
        api.updates = again  # the confirmation was lost
        async with desk.running("telegram", ENV, url=url, **flags):
            api.write("When did the mill of Brack burn down?")
            await eventually(lambda: len(api.sent) == 2, desk.said, api)
    assert "1873" in api.texts()[1]


async def test_message_with_unknown_delivery_is_reported_and_not_resent(desk) -> None:
    api = BotApi()
    api.trouble = [
        JSONResponse({"ok": False, "parameters": {"retry_after": 0}}, 429),
        TruncatedResponse(),
    ]
    async with (
        served(api.app) as url,
        desk.running("telegram", ENV, url=url, allow=[str(ANN)], poll=0),
    ):
        api.write("Who repaired the pump of Skarholm?")
        await eventually(lambda: any("may or may not" in line for line in desk.said))
        api.write("/help")
        await eventually(lambda: len(api.sent) == 2, desk.said, api)
    assert api.calls.count("sendMessage") == 3
    assert TOKEN not in str(desk.said)


async def test_unknown_sender_is_ignored_until_settings_allow_them(desk, tmp_path) -> None:
    api = BotApi()
    async with (
        served(api.app) as url,
        desk.running("telegram", ENV, url=url, allow=[str(ANN)], poll=0),
    ):
        api.write("Who repaired the pump of Skarholm?", sender=EVE)
        api.write("Well?", sender=EVE)
        api.write("/help")
        await eventually(lambda: api.sent)
        assert [one["chat_id"] for one in api.sent] == [str(ANN)]
        assert sum("refused 99" in line for line in desk.said) == 1
        assert not (tmp_path / "data" / "runs").exists()
        row = desk.options.channels["telegram"]
        desk.options = replace(desk.options, channels={"telegram": {**row, "allow": 3}})
        api.write("/help")
        await eventually(lambda: len(api.sent) == 2)
        assert sum("using the previous settings" in line for line in desk.said) == 1
        allowed = {**row, "allow": [str(ANN), str(EVE)]}
        desk.options = replace(desk.options, channels={"telegram": allowed})
        api.write("/help", sender=EVE)
        await eventually(lambda: len(api.sent) == 3)
    assert [one["chat_id"] for one in api.sent] == [str(ANN), str(ANN), str(EVE)]


async def test_unknown_sender_gets_configured_refusal_once(desk) -> None:
    api = BotApi()
    async with (
        served(api.app) as url,
        desk.running("telegram", ENV, url=url, allow=[str(ANN)], poll=0, refuse="Private."),
    ):
        api.write("Hello?", sender=EVE)
        api.write("Hello?", sender=EVE)
        api.write("/help")
        await eventually(lambda: len(api.sent) == 2, desk.said, api)
    assert sorted(one["chat_id"] for one in api.sent) == [str(ANN), str(EVE)]


async def test_forwarded_messages_wait_for_question_and_become_files(desk, tmp_path) -> None:
    api = BotApi()
    api.files["F1"] = b"# Ferry\n\nThe ferry Alma to Brack left at 7:15 on weekdays in 1921.\n"
    async with (
        served(api.app) as url,
        desk.running("telegram", ENV, url=url, allow=[str(ANN)], poll=0),
    ):
        api.write("The warden of Hesk was Tora Lund. /stop", forward_origin={"type": "user"})
        api.write(document={"file_id": "F1", "file_name": "../../ferry.md"})
        await eventually(lambda: len(api.sent) == 2, desk.said, api)
        api.write("When did the ferry Alma leave?")
        await eventually(lambda: len(api.sent) == 3, desk.said, api)
    assert "What would you like to know" in api.texts()[0]
    assert "7:15" in api.texts()[2]
    kept = [path.name for path in (tmp_path / "data" / "channels").rglob("*") if path.is_file()]
    assert {"0-quoted.txt", "1-ferry.md"} <= set(kept)


async def test_updates_in_unknown_format_are_skipped(desk) -> None:
    api = BotApi()
    async with (
        served(api.app) as url,
        desk.running("telegram", ENV, url=url, allow=[str(ANN)], poll=0),
    ):
        api.polls = [JSONResponse([1]), JSONResponse({"ok": False, "description": "Conflict"}, 409)]
        api.updates.append({"update_id": 1, "message": {"from": 3, "text": ["?"]}})
        api.updates.append({"update_id": 2, "callback_query": {"id": "x"}})
        api.updates.append({"update_id": 3, "channel_post": {"text": "?"}})
        api.write("/help")
        await eventually(lambda: api.sent, desk.said, api)
    assert sum("in an unknown format" in line for line in desk.said) == 2
    assert any("Conflict" in line for line in desk.said)


async def test_wrong_token_stops_channel_without_leaking_it(desk) -> None:
    api = BotApi()
    async with (
        served(api.app) as url,
        desk.running(
            "telegram", {"TELEGRAM_TOKEN": "777:wrong-token"}, url=url, allow=[str(ANN)], poll=0
        ),
    ):
        await eventually(lambda: any("stopped" in line for line in desk.said))
    assert "Unauthorized" in desk.said[-1]
    assert "777:wrong" not in str(desk.said)


async def test_daily_question_limit_applies_to_sender(desk) -> None:
    api = BotApi()
    async with (
        served(api.app) as url,
        desk.running("telegram", ENV, url=url, allow=[str(ANN)], poll=0, questions_day=1),
    ):
        api.write("Who repaired the pump of Skarholm?")
        api.write("When was it built?")
        await eventually(lambda: len(api.sent) == 2, desk.said, api)
    assert "today's limit" in api.texts()[1]


SWITCH_PAGE = b"""<!doctype html><title>Pump</title><p id=now>The pump is off.</p>
<button onclick="fetch('/on', {method: 'POST'}); now.textContent = 'The pump is on.'">Switch on
</button>"""


class Pump(Handler):
    """A page with a button; the site is the list of presses."""

    def get(self) -> None:
        self.send(200, "text/html", SWITCH_PAGE)

    def post(self, body: bytes) -> None:
        self.server.site.append(self.path)
        self.send(200, "text/plain", b"")


@pytest.mark.parametrize(
    ("pressed", "done", "answer"),
    [("yes", ["/on"], "The pump is on."), ("no", [], "It was not approved.")],
)
async def test_action_is_approved_or_denied_by_button_press(
    desk, chrome_in_use, script, pressed, done, answer
) -> None:
    api, site = BotApi(), list[str]()
    with serving(Pump, lambda base: (site.append(base), site)[1]):
        base = site.pop()
        click = '<<TOOL:CLICK:{"ref": "{{ref:Switch on}}"}>>'
        last = "The pump is on. [S2]" if done else "NOT_FOUND It was not approved."
        run = {
            "model": script(f"<<TOOL:OPEN:{base}/>>", click, last),
            "cdp": chrome_in_use.cdp_url,
            "allow_private": [base.partition("//")[2]],
        }
        async with (
            served(api.app) as url,
            desk.running("telegram", ENV, url=url, allow=[str(ANN)], poll=0, run=run),
        ):
            api.trouble = [TruncatedResponse()]  # the question is sent again
            api.write(f"Switch on the pump at {base}/")
            await eventually(lambda: len(api.sent) == 2, desk.said, api)
            first, asked = api.sent
            assert first == asked
            del api.sent[0]
            assert asked["text"] == f"May I click button Switch on, at {base}/?"
            [row] = asked["reply_markup"]["inline_keyboard"]
            assert [key["text"] for key in row] == ["Yes", "Yes, everything on this site", "No"]
            assert site == []
            codes = {key["callback_data"].rpartition(":")[2]: key["callback_data"] for key in row}
            api.press(codes["yes"], sender=EVE)  # a stranger's press decides nothing
            api.press(f"0000:{pressed}")  # nor does a button of an earlier question
            await eventually(lambda: len(api.sent) == 2, desk.said, api)
            assert (site, api.texts()[1]) == ([], "That question is no longer open.")
            api.press(codes[pressed])
            await eventually(lambda: len(api.sent) == 3, desk.said, api)
        assert site == done
        assert answer in api.texts()[2]
