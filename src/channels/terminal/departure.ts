/**
 * Nobody answered. `interrupted`: Ctrl+C at one question. `ended`: nothing more will be typed (Ctrl+D, end of input).
 * `lost`: the terminal or the process is going away, which is not a person's word.
 */
export class Departure extends Error {
  readonly how: 'interrupted' | 'ended' | 'lost';

  constructor(how: Departure['how']) {
    super(`Nobody answered: ${how}.`);
    this.how = how;
  }
}
