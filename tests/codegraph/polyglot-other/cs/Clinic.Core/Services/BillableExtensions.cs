namespace Clinic.Core.Services;

using Clinic.Core.Model;

public static class BillableExtensions
{
    public static int WithTax(this IBillable billable) => billable.Bill() * 2;

    public static int Total(this IEnumerable<Visit> visits) => visits.Sum(v => v.Fee());
}
