/** The pages' script and style match their sources, and are small. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { createServer, RestHandler } from '../../lib/index.ts'
import { describe } from '../helpers/describe.ts'
import { ROOT } from '../helpers/program.ts'
import { assetsModule } from './bundle.ts'
import { open } from './page-of.ts'

/** Bytes of a page that shows next to nothing, gzipped. */
const MOST = 32_500

class Hello extends RestHandler {
	get_hello() {
		return 'hello'
	}
}

describe('explorer: assets', (test) => {
	test('lib/explorer/assets.ts is the output of `npm run explorer`', async () => {
		const written = readFileSync(`${ROOT}/lib/explorer/assets.ts`, 'utf8')
		assert.ok(written === (await assetsModule()), 'run `npm run explorer`')
	})

	test(`a page is below ${MOST} bytes, gzipped`, async () => {
		const { body } = await open(createServer({ '': new Hello() }, { explorer: true }), '/hello')
		const size = gzipSync(body).length
		assert.ok(size > 5_000 && size < MOST, `it has ${size}`)
	})
})
