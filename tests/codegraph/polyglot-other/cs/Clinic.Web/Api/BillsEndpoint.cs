using Clinic.Core.Model;
using Clinic.Core.Services;
using Clinic.Core.Services.Clocks;
using static Clinic.Core.Services.Defaults;
using P = Clinic.Core.Model.Patient;

namespace Clinic.Web.Api;

public class BillsEndpoint(Scheduler<WallClock> scheduler)
{
    public async Task<int> Get(string name)
    {
        var patient = await scheduler.FindAsync(name);
        return patient.WithTax();
    }

    public int Sum()
    {
        var sum = 0;
        foreach (var patient in scheduler.All().Where(p => p.Ward.IsChildren()))
        {
            sum += patient?.Bill() ?? 0;
        }
        return sum + Fallback();
    }

    public string Name(object who)
    {
        if (who is P patient)
        {
            return patient.Title();
        }
        return who switch
        {
            Visit visit => visit.Fee().ToString(),
            _ => "",
        };
    }
}
