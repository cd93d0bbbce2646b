/* A process of its own, whose parameter says whose first cycle it does. It prints the milliseconds since the process began. */
const [whose] = process.argv.slice(2);

const { askForCalls } = await import('./speed-task.ts');
const task = askForCalls(1);
const competitor =
  whose === 'own'
    ? (await import('./own-competitor.ts')).ownCompetitor({ task })
    : (await import('./ai-competitor.ts')).aiCompetitor({ task });
/* It does a cycle to see that the work is done. */
await competitor.prepare();
console.log(performance.now());
