import { expect, test } from '@playwright/test';

test.beforeEach(async ({ page }) => {
  await page.goto('/');
});

async function quote(page, goods) {
  await page.getByLabel('Goods, in cents').fill(goods);
  await page.getByRole('button', { name: 'Quote' }).click();
}

test('[C1] an order of 100.00 costs ten percent less', async ({ page }) => {
  await quote(page, '10000');
  await expect(page.getByRole('status')).toHaveText('90.00 (you save 10.00)');
  await quote(page, '9999');
  await expect(page.getByRole('status')).toHaveText('99.99');
});

test('[C2] what is no number of cents is refused in words', async ({ page }) => {
  await quote(page, 'a lot');
  await expect(page.getByRole('status')).toHaveText('goods is no number of cents');
});

test('an order is still there after a reload', { annotation: { type: 'scenario', description: 'C3' } }, async ({ page }) => {
  const orders = page.locator('#orders');
  await expect(orders).toHaveText(/^\d+$/);
  const before = Number(await orders.textContent());
  await page.getByRole('button', { name: 'Order' }).click();
  await expect(orders).toHaveText(String(before + 1));
  await page.reload();
  await expect(orders).toHaveText(String(before + 1));
});
