namespace Clinic.Core.Model
{
    public interface IBillable
    {
        int Bill();
    }

    public sealed class Ward
    {
        public Kind Kind;

        public bool IsChildren() => Kind == Kind.Children;
    }

    public enum Kind
    {
        Adults,
        Children,
    }

    public record Visit(int Minutes)
    {
        public int Fee() => Minutes * 2;
    }
}
