import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

// A browser of the machine, where there is one; otherwise the one that `npx playwright install` brought.
const chromium = process.env.CHROMIUM ?? ['/usr/bin/chromium'].find((path) => existsSync(path));

export default defineConfig({
  testDir: 'specs',
  timeout: 20_000,
  forbidOnly: true,
  use: {
    // Never a fixed address: each work tree has ports of its own.
    baseURL: process.env.PLAYWRIGHT_BASE_URL ?? `http://127.0.0.1:${process.env.PORT ?? 3000}`,
    screenshot: 'only-on-failure',
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: chromium,
      args: [
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync',
      ],
    },
  },
});
