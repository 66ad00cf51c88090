import garden
import garden.beds.bed as beds
from garden import RaisedBed, sky
from garden.beds import plant_seed
from garden.weather import CURRENT as NOW


def logged(function):
    return function


class Robot:
    bed: beds.Bed

    def __init__(self, station: "sky.Station") -> None:
        self.station = station
        self.bed = RaisedBed()

    def work(self) -> None:
        if not self.station.read().is_wet():
            self.bed.water().prune()

    @logged
    def trim(self) -> None:
        self.bed.tallest.cut()


class BigRobot(Robot):
    def work(self) -> None:
        super().work()
        for plant in self.bed:
            plant.cut()


def start() -> None:
    with RaisedBed(plant_seed("rose")) as bed:
        bed.water()
    robot = BigRobot(garden.sky.Station())
    robot.trim()


def wet_now() -> bool:
    return NOW.is_wet()


async def fetch(robots: list[Robot]) -> Robot:
    return robots[0]


async def run_first() -> None:
    robot = await fetch([])
    robot.work()


def plan(kind):
    table = {"rose": beds.Bed.of_roses}
    return table[kind]()
