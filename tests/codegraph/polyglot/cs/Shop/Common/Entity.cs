namespace Shop.Common;

public abstract class Entity
{
    protected void Touch()
    {
        Stamp();
    }

    protected virtual void Stamp()
    {
    }
}

public struct Money
{
    public int Cents;

    public int Rounded() => Cents - Cents % 5;
}

public record Address(string Street, string City)
{
    public string Label() => Street + City;
}

public enum Level
{
    Low,
    High,
}
