import { DurableObject } from 'cloudflare:workers';
import { createAgent, type ThreadStore } from 'holdpoint';
import { durableObjectDriver, sqliteStoreOn } from 'holdpoint/stores/sqlite-on';
import { createUiHandler } from 'holdpoint/ui';
import { authorize, model, toolApproval, tools } from './app.ts'; // yours

/** One object for each thread: it keeps the thread, serves its page, and wakes up when the thread needs a run. */
export class ThreadObject extends DurableObject {
  #threads = sqliteStoreOn(durableObjectDriver(this.ctx.storage));
  #store: ThreadStore = {
    ...this.#threads,
    append: async (...appended) => {
      await this.#threads.append(...appended);
      const { nextDeadline } = appended[3];
      if (nextDeadline === undefined) await this.ctx.storage.deleteAlarm();
      else await this.ctx.storage.setAlarm(Math.max(nextDeadline, Date.now()) + 1);
    },
  };
  agent = createAgent({ model, tools, toolApproval, store: this.#store });
  #handler = createUiHandler({ agent: this.agent, authorize });

  async fetch(request: Request): Promise<Response> {
    return this.#handler(request);
  }

  async alarm(): Promise<void> {
    for (const { threadId } of await this.#store.list({})) {
      await this.agent.run([], await this.agent.thread(threadId), { onlyWhenDue: true });
      /* If the alarm came too early, nothing was appended, and nothing has set the next one. */
      const { nextDeadline } = (await this.#store.head(threadId)) ?? {};
      if (nextDeadline === undefined || (await this.ctx.storage.getAlarm()) !== null) continue;
      await this.ctx.storage.setAlarm(Math.max(nextDeadline, Date.now() + 1_000));
    }
  }
}
