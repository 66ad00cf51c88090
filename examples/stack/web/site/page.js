const at = (id) => document.getElementById(id);
const money = (cents) => (cents / 100).toFixed(2);

async function ask(path, options) {
  const answer = await fetch(`/cgi-bin/api/${path}`, options);
  return { ok: answer.ok, ...(await answer.json()) };
}

at('quote').addEventListener('click', async () => {
  const said = await ask(`quote?goods=${encodeURIComponent(at('goods').value)}`);
  at('price').value = !said.ok
    ? said.error
    : `${money(said.price)}${said.saved ? ` (you save ${money(said.saved)})` : ''}`;
});

async function showOrders(options) {
  at('orders').textContent = (await ask('orders', options)).orders;
}

at('order').addEventListener('click', () => showOrders({ method: 'POST', body: 'order' }));
showOrders();
