import { memoryKit } from '../support/store-kits.ts';
import { playWorkerStories } from './play-worker-stories.ts';

playWorkerStories([{ name: memoryKit.name, start: async () => memoryKit.keep() }]);
