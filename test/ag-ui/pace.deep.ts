import { test } from 'vitest';
import { leaveUnread } from './unread-streams.ts';

test('50 streams that nobody reads end their runs, and none keeps more than its share', async () => {
  await leaveUnread(50);
});
