namespace Shop.Domain;

public interface IMailer
{
    void Send(string to);
}
