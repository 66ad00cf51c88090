/** What the page says a price is: "90.00" for 9000 cents. */
export function shown(cents: number): string {
  const sign = cents < 0 ? "-" : "";
  const whole = Math.abs(cents);
  return `${sign}${Math.floor(whole / 100)}.${String(whole % 100).padStart(2, "0")}`;
}

/** The line below the total: what the discount saves, nothing when there is none. */
export function saved(goods: number, price: number): string {
  return price < goods ? `You save ${shown(goods - price)}` : "";
}
