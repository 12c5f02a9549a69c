export { exponential, jitter } from './delays.ts'
