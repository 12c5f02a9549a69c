/** What CommonJS code in the bundle gets for `require('path')`. */
export * from 'node:path'
