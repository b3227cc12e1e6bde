/** A self-signed certificate, made by openssl, for tests over TLS. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
	readonly key: Buffer
	readonly cert: Buffer
}

/** For `localhost`, valid for a day. */
export function selfSigned(): Certificate {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-'))
	try {
		const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
		const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
		const files = ['-keyout', key, '-out', cert]
		execFileSync('openssl', ['req', ...options, ...files, '-days', '1', '-subj', '/CN=localhost'], {
			stdio: 'ignore',
		})
		return { key: readFileSync(key), cert: readFileSync(cert) }
	} finally {
		rmSync(folder, { recursive: true })
	}
}
