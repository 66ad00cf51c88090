namespace Clinic.Core.Model;

public partial class Patient : Person, IBillable
{
    public Patient(string name, Ward ward) : base(name)
    {
        Ward = ward;
    }

    public Ward Ward { get; }

    public List<Visit> Visits { get; } = new();

    public int Bill() => Visits.Sum(v => v.Fee()) + Discount();
}

public abstract class Person
{
    protected Person(string name)
    {
        Name = name;
    }

    public string Name { get; }

    public virtual string Title() => Prefix() + Name;

    private static string Prefix() => "";
}
