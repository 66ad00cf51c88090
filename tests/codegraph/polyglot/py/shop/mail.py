from typing import Protocol


class Mailer(Protocol):
    def send(self, to: str) -> None: ...


class SmtpMailer(Mailer):
    def send(self, to: str) -> None:
        self.connect()

    def connect(self) -> None:
        pass


class FakeMailer(Mailer):
    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, to: str) -> None:
        self.sent.append(to)
