package tern.rpc.load.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AuditTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir
    Path folder;

    @Test
    void dependenciesWithoutAdvisoryPass() {
        assertThat(run(sample("good"))).isEqualTo(Audit.NONE);

        assertThat(lines(out))
                .containsExactly("0 of 4 dependencies are affected; 2 advisories were read, 0 of them are withdrawn");
    }

    @Test
    void affectedDependenciesAreNamedWithAdvisoryAndFixedVersion() {
        assertThat(run(sample("affected"))).isEqualTo(Audit.AFFECTED);

        assertThat(lines(out))
                .containsExactly(
                        "com.example:inner  3.0  TEST-2026-0004  CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H"
                                + "  no fixed version named",
                        "com.example:parser  1.4.2  TEST-2026-0003  HIGH  fixed in 1.4.10",
                        "2 of 4 dependencies are affected; 2 advisories were read, 0 of them are withdrawn");
    }

    @Test
    void withdrawnAdvisoriesAreSkipped() {
        assertThat(run(sample("withdrawn"))).isEqualTo(Audit.NONE);

        assertThat(lines(out))
                .containsExactly("0 of 4 dependencies are affected; 1 advisories were read, 1 of them are withdrawn");
    }

    @Test
    void oneFileIsRead() {
        assertThat(run(sample("affected/range.json"))).isEqualTo(Audit.AFFECTED);

        assertThat(lines(out)).first().asString().contains("com.example:parser  1.4.2  TEST-2026-0003");
    }

    @Test
    void zipIsRead() throws IOException {
        Path zip = folder.resolve("all.zip");
        try (ZipOutputStream entries = new ZipOutputStream(Files.newOutputStream(zip))) {
            entries.putNextEntry(new ZipEntry("Maven/range.json"));
            Files.copy(sample("affected/range.json"), entries);
            entries.putNextEntry(new ZipEntry("README"));
            entries.write('x');
        }

        assertThat(run(zip)).isEqualTo(Audit.AFFECTED);

        assertThat(lines(out)).hasSize(2).first().asString().contains("TEST-2026-0003");
    }

    @Test
    void answerOfTheApiIsRead() throws IOException {
        String advisory = Files.readString(sample("affected/range.json"));

        assertThat(run(written("{\"vulns\": [" + advisory + "]}"))).isEqualTo(Audit.AFFECTED);
    }

    /**
     * Each row contains a modified advisory. The advisory concerns version 4.2.0.Final of the package "wire", or
     * version 2.0.0-RC1 of the package "outer".
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "wire  | {'introduced':'0'},{'fixed':'4.2.1.Final'}                        | fixed in 4.2.1.Final",
                "wire  | {'introduced':'0'},{'fixed':'4.2.0'}                              |",
                "wire  | {'introduced':'4.2.0'}                                            | no fixed version named",
                "wire  | {'introduced':'4.2.0.CR1'},{'last_affected':'4.2.0.Final'}        | fixed after 4.2.0.Final",
                "wire  | {'introduced':'4.1'},{'last_affected':'4.2.0.CR1'}                |",
                "wire  | {'introduced':'4.10'}                                             |",
                "wire  | {'fixed':'4.10'},{'introduced':'4.2'}                             | fixed in 4.10",
                "wire  | {'introduced':'3'},{'fixed':'3.9'},{'introduced':'4'},{'fixed':'5'} | fixed in 5",
                "wire  | {'introduced':'3'},{'fixed':'4'},{'introduced':'4.3'}             |",
                "wire  | {'introduced':'3'},{'fixed':'4'},{'introduced':'4'}               | no fixed version named",
                "wire  | {'introduced':'0'},{'limit':'4.2'}                                |",
                "wire  | {'introduced':'0'},{'limit':'4.3'}                                | no fixed version named",
                "outer | {'introduced':'0'},{'fixed':'2.0.0'}                              | fixed in 2.0.0",
                "outer | {'introduced':'2.0.0'}                                            |",
                "outer | {'introduced':'2.0.0-alpha-1'},{'fixed':'2.0.0-RC2'}              | fixed in 2.0.0-RC2",
            })
    void rangesFollowTheOrderOfMavenVersions(String artifact, String events, String fixed) throws IOException {
        Path advisory = written("""
                {"id": "X", "affected": [{"package": {"ecosystem": "Maven", "name": "com.example:%s"},
                 "ranges": [{"type": "ECOSYSTEM", "events": [%s]}, {"type": "GIT", "events": [{"introduced": "0"}]}]}]}""".formatted(artifact, events.replace('\'', '"')));

        int end = run(advisory);

        assertThat(end).isEqualTo(fixed == null ? Audit.NONE : Audit.AFFECTED);
        if (fixed != null) {
            assertThat(lines(out)).first().asString().endsWith("  X  unknown  " + fixed);
        }
    }

    @Test
    void brokenJsonIsNamed() {
        assertThat(run(sample("broken"))).isEqualTo(Audit.BAD_INPUT);

        assertOneLine("cut.json is no JSON");
    }

    @Test
    void missingAdvisoriesAreNamed() {
        assertThat(run(folder.resolve("none.json"))).isEqualTo(Audit.BAD_INPUT);

        assertOneLine("no such file: ", "none.json");
    }

    @Test
    void missingZipIsNamed() {
        assertThat(run(folder.resolve("none.zip"))).isEqualTo(Audit.BAD_INPUT);

        assertOneLine("no such file: ", "none.zip");
    }

    @Test
    void missingSbomIsNamedWithTheCommandThatWritesIt() {
        int end = run(sample("good").toString(), "--sbom=" + folder.resolve("none.json"));

        assertThat(end).isEqualTo(Audit.BAD_INPUT);
        assertOneLine("no SBOM at ", "./mvnw -Prelease -DskipTests package");
    }

    @Test
    void emptyFolderIsNoProof() {
        assertThat(run(folder)).isEqualTo(Audit.BAD_INPUT);

        assertOneLine("holds no advisory");
    }

    @Test
    void brokenZipIsNamed() throws IOException {
        Path zip = Files.writeString(folder.resolve("all.zip"), "x");

        assertThat(run(zip)).isEqualTo(Audit.BAD_INPUT);

        assertOneLine("ZipException");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "7",
                "",
                "{'id': 'X', 'affected': 3}",
                "{'id': 'X', 'affected': [{'package': {'ecosystem': 'Maven', 'name': 'a:b'}, 'ranges': {}}]}",
                "{'id': 'X', 'affected': [{'package': {'ecosystem': 'Maven', 'name': 'a:b'}, 'ranges': [{'events': [{}]}]}]}",
                "{'id': 'X', 'affected': [{'package': {'ecosystem': 'Maven', 'name': 'a:b'}, 'ranges': [{'type': 'ECOSYSTEM'}]}]}",
            })
    void errorNamesAFileThatIsNoAdvisory(String text) throws IOException {
        assertThat(run(written(text.replace('\'', '"')))).isEqualTo(Audit.BAD_INPUT);

        assertOneLine("written.json");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[",
                "{'bomFormat': 'CycloneDX'}",
                "{'bomFormat': 'CycloneDX', 'components': [{'group': 'a', 'name': 'b', 'purl': 'pkg:maven/a/b'}]}",
            })
    void errorNamesAFileThatIsNoSbom(String text) throws IOException {
        int end = run(sample("good").toString(), "--sbom=" + written(text.replace('\'', '"')));

        assertThat(end).isEqualTo(Audit.BAD_INPUT);
        assertOneLine("written.json");
    }

    @Test
    void wrongArgumentsAreNamed() {
        assertThat(run("--sbm=x", "y")).isEqualTo(Audit.BAD_INPUT);
        assertOneLine("option '--sbm=x' is not known");
        err.reset();
        assertThat(run()).isEqualTo(Audit.BAD_INPUT);
        assertOneLine("0 places of advisories are named, expected one");
    }

    @Test
    void helpIsPrinted() {
        assertThat(run("--help")).isEqualTo(Audit.NONE);

        assertThat(lines(out)).first().asString().startsWith("load-tests/audit ADVISORIES");
    }

    private int run(Path advisories) {
        return run(advisories.toString(), "--sbom=" + sample("sbom.json"));
    }

    private int run(String... arguments) {
        return Audit.run(new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8), arguments);
    }

    private Path written(String text) throws IOException {
        return Files.writeString(folder.resolve("written.json"), text);
    }

    private void assertOneLine(String... parts) {
        assertThat(lines(err)).singleElement().asString().contains(parts);
    }

    private static List<String> lines(ByteArrayOutputStream stream) {
        try (Stream<String> lines = stream.toString(UTF_8).lines()) {
            return lines.toList();
        }
    }

    private static Path sample(String name) {
        try {
            return Path.of(Objects.requireNonNull(AuditTest.class.getResource("/audit/" + name))
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
