using Clinic.Core.Services;

namespace Clinic.Tests;

public class FakeClock : IClock
{
    public int Time { get; set; }

    public int Now() => Time;
}

public class SchedulerTests
{
    private Scheduler<FakeClock> Make() => new Scheduler<FakeClock>(new FakeClock { Time = 4 });

    public void IsLate()
    {
        var scheduler = Make();
        scheduler.IsLate();
    }
}
