using Clinic.Core.Model;

namespace Clinic.Core.Services
{
    public interface IClock
    {
        int Now();
    }

    public class Scheduler<TClock> where TClock : IClock
    {
        private readonly TClock _clock;
        private readonly Dictionary<string, Patient> _patients = new();

        public Scheduler(TClock clock) => _clock = clock;

        public async Task<Patient> FindAsync(string name)
        {
            if (_patients.TryGetValue(name, out var found))
            {
                found.Title();
            }
            return await Task.FromResult(_patients[name]);
        }

        public bool IsLate() => _clock.Now() > 3;

        public IEnumerable<Patient> All() => _patients.Values;
    }

    namespace Clocks
    {
        public class WallClock : IClock
        {
            public int Now() => 1;
        }
    }
}
