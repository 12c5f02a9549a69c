/** Thrown by the state of an instance that no longer exists: nothing it does can reach storage any more. */
export class SimulatedCrash extends Error {
  override readonly name: string = 'SimulatedCrash'
  readonly code: string = 'simulated_crash'

  constructor() {
    super('This instance of the object has crashed')
  }
}
