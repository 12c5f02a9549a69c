export { exponential, jitter } from '../core/retry.ts'
