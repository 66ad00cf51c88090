class Forecast:
    def __init__(self, rain: int) -> None:
        self.rain = rain

    def is_wet(self) -> bool:
        return self.rain > 1


class Station:
    def read(self) -> Forecast:
        return Forecast(1)


def today(station: Station = None) -> Forecast:
    return (station or Station()).read()


CURRENT = Forecast(2)
