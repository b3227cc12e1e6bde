/** ajv for drafts 2020-12, with the formats that our descriptions name; strict, but for unions, which are ours. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'

export function ajv(): Ajv2020 {
	const made = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true })
	ajvFormats.default(made)
	return made.addFormat('time-local', /^\d\d:\d\d:\d\d(?:\.\d+)?$/).addFormat('decimal', /^-?\d+(?:\.\d+)?$/)
}
