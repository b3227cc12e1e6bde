/** The modules `verbena/react-admin` and `verbena/refine`, as a browser loads them. */
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { ROOT } from '../helpers/program.ts'

describe('providers: the modules', (test) => {
	for (const [name, most] of [
		['react-admin', 12_000],
		['refine', 12_250],
	] as const)
		test(`${name} is small, and needs nothing from Node or from ${name}`, async () => {
			// An import that can't be resolved would fail the build.
			const { outputFiles, metafile } = await build({
				entryPoints: [`${ROOT}/lib/providers/${name}.ts`],
				...{ bundle: true, minify: true, write: false, metafile: true },
				...{ format: 'esm', platform: 'browser', target: 'es2022' },
			})
			const inputs = Object.keys(metafile.inputs).map((file) => file.split('lib/').at(-1) ?? '')
			assert.equal(
				inputs.filter((file) => !/^(?:providers|client|wire)\//.test(file)),
				[],
			)
			const [module] = outputFiles
			const size = gzipSync(module?.contents ?? '').length
			assert.ok(size > 5_000 && size < most, `${size} bytes`)
			const [{ exports = [] } = {}] = Object.values(metafile.outputs)
			assert.equal(exports, ['HttpError', 'dataProvider'])
		})
})
