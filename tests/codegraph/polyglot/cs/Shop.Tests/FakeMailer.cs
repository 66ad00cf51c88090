using System.Collections.Generic;
using Shop.Domain;

namespace Shop.Tests;

public class FakeMailer : IMailer
{
    public List<string> Sent { get; } = new();

    public void Send(string to)
    {
        Sent.Add(to);
    }
}
