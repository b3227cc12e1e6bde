/**
 * Uploads: small files in a form, and a stream of any size.
 *
 *     npx tsx examples/07-upload.ts
 */
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { createServer, RestHandler } from '../lib/index.ts' // you write 'verbena'

class Uploads extends RestHandler {
	override streaming = { put_video: { maxBody: 4 * 2 ** 30 } } // these methods get the body as a stream

	post_photo() {
		const { caption } = this.getParams({ caption: ['string', { max: 200 }] })
		const photos = (this.files.photo ?? []).map(({ name, type, size }) => ({ name, type, size }))
		return { caption, photos }
	}

	async put_video(name: string) {
		const hash = createHash('sha256')
		await pipeline(this.request.stream, hash) // or createWriteStream(…)
		return { name, sha256: hash.digest('hex') }
	}
}

const { url } = await createServer({ up: new Uploads() }).listen(Number(process.env.PORT ?? 3000))
console.log(`Listening at ${url}`)

/*
$ curl -F caption=Home -F 'photo=@LICENSE;type=text/plain' http://127.0.0.1:3000/up/photo
{"success":true,"data":{"caption":"Home","photos":[{"name":"LICENSE","type":"text/plain","size":…}]}}
$ curl -X PUT -d abc http://127.0.0.1:3000/up/video/short
{"success":true,"data":{"name":"short","sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}}
*/
