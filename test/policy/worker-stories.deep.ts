import { everyStore } from '../support/every-store.ts';
import { memoryKit } from '../support/store-kits.ts';
import { playWorkerStories } from './play-worker-stories.ts';

playWorkerStories(everyStore().filter(({ name }) => name !== memoryKit.name));
