import { afterEach, describe, expect, test, vi } from 'vitest';
import { waitUntil } from '../support/waiting.ts';
import { memoryWorld } from '../support/travel-world.ts';
import { openPage, serve, rest, say, fieldOf, run, bookingWorld } from './form-pages.ts';

/** A document without a layout: elements that take the focus, and hear what is pressed. */
function makeDocument() {
  const body = {};
  const focus: { activeElement: unknown; body: unknown } = { activeElement: body, body };
  vi.stubGlobal('document', focus);
  const makeElement = () => {
    const events = new EventTarget();
    const element = {
      isConnected: true,
      focus: () => void Object.assign(focus, { activeElement: element }),
      contains: (other: unknown): boolean => other === element,
      addEventListener: events.addEventListener.bind(events),
      press: (type: 'keydown' | 'pointerdown', of: object = {}) => {
        const event = Object.assign(new Event(type, { cancelable: true }), of);
        return events.dispatchEvent(event);
      },
      goAway: () => {
        element.isConnected = false;
        if (focus.activeElement === element) Object.assign(focus, { activeElement: body });
      },
    };
    return element;
  };
  return { focus, makeElement };
}

describe('the focus', () => {
  afterEach(() => vi.unstubAllGlobals());

  test('goes to the next request also where an app has shown that twice, and one of the two has gone', async () => {
    const { focus, makeElement } = makeDocument();
    const page = openPage(serve(bookingWorld(2).agent), 'ada');
    await say(page, 'Book.');
    const [first, second] = page.requests;
    const [inThread, inPanel] = [makeElement(), makeElement()];
    second?.ref(inThread);
    second?.ref(inPanel);
    second?.ref(null);
    inPanel.goAway();
    run(first, 'reject');
    page.settle();
    expect(focus.activeElement).toBe(inThread);
  });

  test.each([
    ['goes to its field', { isTyping: false, isElsewhere: false }],
    ['stays in the message in which the person types', { isTyping: true, isElsewhere: false }],
    ['stays where the person has put it', { isTyping: false, isElsewhere: true }],
  ])('after a late refusal %s', async (_name, { isTyping, isElsewhere }) => {
    const { focus, makeElement } = makeDocument();
    const page = openPage(serve(bookingWorld(1).agent), 'ada');
    await say(page, 'Book.');
    const [asked] = page.requests;
    const [field, message, other] = [makeElement(), makeElement(), makeElement()];
    page.composer.ref(message);
    fieldOf(asked, 'price')?.text?.set('9000');
    await rest(page);
    run(asked, 'approve');
    page.settle();
    expect(focus.activeElement).toBe(message);
    if (isTyping) page.composer.set('A draft');
    if (isElsewhere) other.focus();
    await waitUntil(() => page.state.problem?.type === 'refused');
    fieldOf(page.requests[0], 'price')?.text?.props.ref(field);
    page.settle();
    const elsewhere = isElsewhere ? other : message;
    expect(focus.activeElement).toBe(isTyping || isElsewhere ? elsewhere : field);
  });

  test('stays at a request that somebody else ends, or goes to the next one, and never to the message', async () => {
    for (const isKept of [true, false]) {
      const { focus, makeElement } = makeDocument();
      const { agent } = bookingWorld(2);
      const page = openPage(serve(agent), 'ada');
      await say(page, 'Book.');
      const elements = page.requests.map(({ ref }) => {
        const element = makeElement();
        ref(element);
        return element;
      });
      page.composer.ref(makeElement());
      elements[0]?.focus();
      page.settle();
      const thread = await agent.thread('t');
      for (const [place, asked] of thread.activeApprovalRequests.entries()) {
        await agent.respond(asked.reject(), thread, { principal: 'ben' });
        await page.refresh();
        if (!isKept) elements[place]?.goAway();
        else Object.assign(focus, { activeElement: focus.body });
        page.settle();
        const left = isKept ? elements[0] : (elements[place + 1] ?? focus.body);
        expect(focus.activeElement).toBe(left);
        if (isKept) break;
      }
    }
  });

  test.each([
    ['the pointer', 'pointerdown', {}],
    ['Space', 'keydown', { key: ' ', repeat: false }],
    ['Enter', 'keydown', { key: 'Enter', repeat: false }],
  ] as const)(
    '%s that went down before a request changed does not approve what it has become',
    async (_name, type, of) => {
      const { makeElement } = makeDocument();
      const world = memoryWorld([
        { calls: [{ id: 'c', name: 'book', input: { city: 'Paris', price: 420 } }] },
        { text: 'Done.' },
      ]);
      const rule = { type: 'user-approval', quorum: 2, editable: true } as const;
      const agent = world.agent({ toolApproval: { book: rule } });
      const page = openPage(serve(agent), 'ada');
      await say(page, 'Book.');
      const section = makeElement();
      page.requests[0]?.ref(section);
      section.press(type, of);
      const thread = await agent.thread('t');
      const [asked] = thread.activeApprovalRequests;
      const edited = asked?.approve({ input: { city: 'Rome', price: 420 } });
      if (edited !== undefined) await agent.respond(edited, thread, { principal: 'ben' });
      await page.refresh();
      await rest(page);
      run(page.requests[0], 'approve');
      expect([...page.state.sending]).toEqual([]);
      section.press(type, of);
      run(page.requests[0], 'approve');
      expect(page.state.sending.size).toBe(1);
    },
  );

  test('Enter counts once however long it is held, in a form and in the message; what else is held is typed', async () => {
    const { makeElement } = makeDocument();
    const page = openPage(serve(bookingWorld(1).agent), 'ada');
    await say(page, 'Book.');
    const [section, message] = [makeElement(), makeElement()];
    page.requests[0]?.ref(section);
    page.composer.ref(message);
    for (const element of [section, message]) {
      expect(element.press('keydown', { key: 'Enter', repeat: false })).toBe(true);
      expect(element.press('keydown', { key: 'Enter', repeat: true })).toBe(false);
      expect(element.press('keydown', { key: 'a', repeat: true })).toBe(true);
    }
  });
});
