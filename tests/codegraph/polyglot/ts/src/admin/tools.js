const { audit } = require('./cart');

function run(cart) {
  return audit(cart);
}

module.exports = { run };
