class Forecast:
    def is_wet(self) -> bool:
        return False


class Robot:
    def work(self) -> None:
        pass


def report(forecast: Forecast, robot: "Robot") -> bool:
    robot.work()
    return forecast.is_wet()
