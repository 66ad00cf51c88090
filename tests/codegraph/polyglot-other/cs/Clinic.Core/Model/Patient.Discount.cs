namespace Clinic.Core.Model;

partial class Patient
{
    private int Discount() => Ward.IsChildren() ? Tariff.Children : 0;

    public override string Title() => base.Title() + "!";
}

static class Tariff
{
    public const int Children = 3;
}
