namespace Elsewhere;
public class None { public Cart C; public Money M; public System.Collections.Generic.List<Cart> L; public string S; public HttpClient H; }
