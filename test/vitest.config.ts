import { defineConfig } from 'vitest/config';

const conditions = ['holdpoint-source'];

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { include: ['test/**/*.test.ts'], testTimeout: 60_000 },
});
