// A reporter that is added to those of a project: it writes what the built-in `json` reporter would, one file a run.
// Loaded through PW_TEST_REPORTER, so that the project's command and its own reporters stay as they are.
'use strict';

const fs = require('fs');
const path = require('path');

class Report {
  constructor() {
    const folder = process.env.MORPH_SPECS_REPORTS;
    this.file = folder && path.join(folder, `${process.hrtime.bigint()}-${process.pid}.json`);
    this.errors = [];
  }

  version() {
    return 'v2';
  }

  printsToStdio() {
    return false;
  }

  onConfigure(config) {
    this.config = config;
  }

  onBegin(first, second) {
    // Up to version 1.34 the configuration comes with the suite.
    if (second) this.config = first;
    this.suite = second || first;
    // A run that never comes to its end leaves a file that does not parse.
    this.write('');
  }

  onError(error) {
    this.errors.push({ message: error.message || error.value || '', location: error.location });
  }

  onEnd() {
    if (!this.suite) return;
    const { rootDir, webServer, version } = this.config;
    const projects = this.config.projects.map((one) => ({ name: one.name, use: { baseURL: (one.use || {}).baseURL } }));
    const suites = this.suite.suites.flatMap((project) => project.suites.map((file) => this.serialized(file, rootDir)));
    this.write(JSON.stringify({
      config: { rootDir, version, webServer: webServer || null, filteredProjects: projects },
      suites,
      errors: this.errors,
      stats: {},
    }));
  }

  serialized(suite, rootDir) {
    return {
      title: suite.title,
      file: suite.location && path.relative(rootDir, suite.location.file),
      line: suite.location && suite.location.line,
      suites: suite.suites.map((inner) => this.serialized(inner, rootDir)),
      specs: suite.tests.map((test) => ({
        title: test.title,
        file: path.relative(rootDir, test.location.file),
        line: test.location.line,
        tests: [this.test(test)],
      })),
    };
  }

  test(test) {
    return {
      annotations: test.annotations,
      expectedStatus: test.expectedStatus,
      projectName: (test.parent.project() || {}).name || '',
      status: test.outcome(),
      results: test.results.map((result) => ({
        status: result.status,
        annotations: result.annotations,
        error: result.error && { message: result.error.message || result.error.value },
        attachments: result.attachments.map(({ name, contentType, path, body }) => (
          { name, contentType, path, body: body && body.toString('base64') }
        )),
      })),
    };
  }

  write(text) {
    if (!this.file) return;
    try {
      fs.writeFileSync(this.file, text, { mode: 0o600 });
    } catch {
      // A disk that is full must not turn specs red.
    }
  }
}

module.exports = Report;
