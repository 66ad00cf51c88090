namespace Shop.Domain
{
    public interface IStore { void Save(Cart cart); Cart Load(int id); Cart Load(string name); }
    public partial class Cart { public int Total() { return Sum(); } public class Line { public int Qty; } }
    public enum Colour { Red, Blue }
    public record Money(int Cents);
    public struct Point { public int X; }
    public class AuditAttribute : System.Attribute { }
    public static class CartExtensions { public static int Twice(this Cart cart) => cart.Total() * 2; }
    public class Repository<T> { public T Get() => default; }
    public abstract class Handler { public abstract void Handle(Cart c); public virtual void Log() {} }
}
