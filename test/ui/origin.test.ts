import { memoryStore } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createUiHandler, type UiHandlerOptions } from 'holdpoint/ui';
import { describe, expect, test, vi } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { travelWorld } from '../support/travel-world.ts';

const kept = memoryStore();
const world = travelWorld(scriptedModel([{ text: 'Hello.' }]), () => kept);

function site(options: Partial<UiHandlerOptions> = {}) {
  const authorize = vi.fn<() => { principal: string }>(() => ({ principal: 'ann' }));
  const agent = world.agent();
  const handler = createUiHandler({ agent, authorize, ...options });
  const agUi = createAgUiHandler({ agent, authorize, ...options });
  return { handler, agUi, authorize };
}

const url = 'http://127.0.0.1:3000/chat';
const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };

function posted(headers: Record<string, string>): Request {
  return new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ id: crypto.randomUUID(), message }),
  });
}

function read(headers: Record<string, string>): Request {
  return new Request(`${url}?id=t`, { headers });
}

describe('a page of another site', () => {
  test.each<Record<string, string>>([
    { origin: 'https://evil.test' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:3001' },
    { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' },
    { origin: 'https://other.app.test', host: 'app.test', 'sec-fetch-site': 'same-site' },
    /* Of the same host, but http: behind a proxy that ends TLS, nothing else tells it from the own page. */
    { origin: 'http://app.test', host: 'app.test', 'sec-fetch-site': 'cross-site' },
  ])('is refused before anything is read: %o', async (headers) => {
    const { handler, authorize } = site();
    for (const request of [posted(headers), read(headers)]) {
      const response = await handler(request);
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { code: 'foreign-origin' } });
    }
    expect(authorize).not.toHaveBeenCalled();
  });

  test('is refused by the route of AG-UI as well', async () => {
    const { agUi } = site();
    expect((await agUi(posted({ origin: 'https://evil.test' }))).status).toBe(403);
  });

  test('that the app lists is served', async () => {
    const { handler } = site({ allowedOrigins: ['https://app.test/'] });
    expect((await handler(posted({ origin: 'https://app.test' }))).status).toBe(200);
    expect((await handler(posted({ origin: 'https://evil.test' }))).status).toBe(403);
  });

  test('that is listed by what is no origin is a TypeError when the route is made', () => {
    expect(() => site({ allowedOrigins: ['app.test'] })).toThrow(TypeError);
  });
});

describe('the own page is served', () => {
  test.each<Record<string, string>>([
    {},
    { origin: 'http://127.0.0.1:3000' },
    { origin: 'https://app.test', host: 'app.test' },
    { origin: 'https://app.test', 'x-forwarded-host': 'app.test' },
    { origin: 'https://app.test', 'sec-fetch-site': 'same-origin' },
  ])('with %o, also behind a proxy', async (headers) => {
    const { handler } = site();
    expect((await handler(posted(headers))).status).toBe(200);
    expect((await handler(read(headers))).status).toBe(200);
  });
});
