package tern.rpc.load.audit;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares the dependencies in an SBOM (CycloneDX, JSON) with an export of advisories (OSV, JSON), and prints the
 * affected dependencies. Needs no network. Exits with 0 if no dependency is affected, with 1 if a dependency is
 * affected, and with 2 if the input cannot be read.
 *
 * <pre>load-tests/audit ADVISORIES [--sbom=FILE]</pre>
 */
public final class Audit {

    static final int NONE = 0;
    static final int AFFECTED = 1;
    static final int BAD_INPUT = 2;

    private static final String HELP = """
            load-tests/audit ADVISORIES [--sbom=FILE]
              ADVISORIES   OSV advisories: a JSON file, a folder of such files, or a zip of them
                           (for Maven: https://osv-vulnerabilities.storage.googleapis.com/Maven/all.zip)
              --sbom=FILE  CycloneDX JSON; without it target/sbom.json, which ./mvnw -Prelease -DskipTests package writes
            Ends with 0 if no dependency is affected, 1 if any is, 2 if the input cannot be read.""";

    private final JsonMapper mapper = new JsonMapper();
    private final List<Advisory> advisories = new ArrayList<>();
    private final Map<String, TreeSet<String>> versions = new TreeMap<>();

    private Audit() {}

    public static void main(String[] arguments) {
        System.exit(run(System.out, System.err, arguments));
    }

    /** Runs the audit without ending the process. Returns the exit code. */
    static int run(PrintStream out, PrintStream err, String... arguments) {
        List<String> sources = new ArrayList<>();
        String sbom = "target/sbom.json";
        for (String argument : arguments) {
            if (argument.equals("--help")) {
                out.println(HELP);
                return NONE;
            } else if (argument.startsWith("--sbom=")) {
                sbom = argument.substring("--sbom=".length());
            } else if (argument.startsWith("-")) {
                err.println("option '" + argument + "' is not known; --help shows all");
                return BAD_INPUT;
            } else {
                sources.add(argument);
            }
        }
        if (sources.size() != 1) {
            err.println(sources.size() + " places of advisories are named, expected one; --help shows how");
            return BAD_INPUT;
        }
        Audit audit = new Audit();
        try {
            audit.readComponents(Path.of(sbom));
            audit.readAdvisories(Path.of(sources.get(0)));
        } catch (NoSuchFileException | FileNotFoundException e) {
            err.println("no such file: " + e.getMessage());
            return BAD_INPUT;
        } catch (IOException | IllegalArgumentException e) {
            err.println(line(e));
            return BAD_INPUT;
        } catch (UncheckedIOException e) {
            err.println(line(e));
            return BAD_INPUT;
        }
        return audit.report(out);
    }

    private static String line(Exception failure) {
        String text =
                failure instanceof IllegalArgumentException ? String.valueOf(failure.getMessage()) : failure.toString();
        return text.replaceAll("\\s+", " ");
    }

    private void readComponents(Path sbom) throws IOException {
        if (!Files.exists(sbom)) {
            throw new IllegalArgumentException(
                    "no SBOM at " + sbom + "; ./mvnw -Prelease -DskipTests package writes target/sbom.json");
        }
        JsonNode root;
        try (InputStream in = Files.newInputStream(sbom)) {
            root = json(in, sbom.toString());
        }
        if (!root.path("bomFormat").asString("").equals("CycloneDX")) {
            throw new IllegalArgumentException(sbom + " is no SBOM of CycloneDX");
        }
        addComponents(root, sbom);
        if (versions.isEmpty()) {
            throw new IllegalArgumentException(sbom + " names no Maven package");
        }
    }

    private void addComponents(JsonNode parent, Path sbom) {
        for (JsonNode component : parent.path("components")) {
            if (component.path("purl").asString("").startsWith("pkg:maven/")) {
                String name = component.path("group").asString("") + ":"
                        + component.path("name").asString("");
                String version = component.path("version").asString("");
                if (version.isEmpty()) {
                    throw new IllegalArgumentException(sbom + " names no version of " + name);
                }
                versions.computeIfAbsent(name, any -> new TreeSet<>()).add(version);
            }
            addComponents(component, sbom);
        }
    }

    private void readAdvisories(Path place) throws IOException {
        if (Files.isDirectory(place)) {
            List<Path> files;
            try (Stream<Path> all = Files.walk(place)) {
                files = all.filter(file -> file.toString().endsWith(".json"))
                        .sorted()
                        .toList();
            }
            for (Path file : files) {
                readFile(file);
            }
        } else if (place.toString().endsWith(".zip")) {
            readZip(place);
        } else {
            readFile(place);
        }
        if (advisories.isEmpty()) {
            throw new IllegalArgumentException(place + " holds no advisory");
        }
    }

    private void readFile(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            add(json(in, file.toString()), file.toString());
        }
    }

    private void readZip(Path place) throws IOException {
        try (ZipFile zip = new ZipFile(place.toFile())) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                if (entry.getName().endsWith(".json")) {
                    String name = place + "!" + entry.getName();
                    try (InputStream in = zip.getInputStream(entry)) {
                        add(json(in, name), name);
                    }
                }
            }
        }
    }

    private JsonNode json(InputStream in, String name) {
        try {
            return mapper.readTree(in);
        } catch (JacksonException e) {
            throw new IllegalArgumentException(name + " is no JSON: " + e.getOriginalMessage(), e);
        }
    }

    /**
     * Adds every advisory in a JSON document to the list. The document is one advisory, an array of advisories, or a
     * response of OSV's API.
     */
    private void add(JsonNode node, String name) {
        if (node.isArray() || node.path("vulns").isArray()) {
            for (JsonNode one : node.isArray() ? node : node.path("vulns")) {
                add(one, name);
            }
            return;
        }
        try {
            advisories.add(Advisory.of(node));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
        }
    }

    private int report(PrintStream out) {
        TreeSet<String> lines = new TreeSet<>();
        TreeSet<String> affected = new TreeSet<>();
        for (Advisory advisory : advisories) {
            for (Advisory.Affected one : advisory.affected()) {
                for (String version : versions.getOrDefault(one.name(), new TreeSet<>())) {
                    advisory.of(one.name(), version).ifPresent(finding -> {
                        affected.add(one.name() + ":" + version);
                        lines.add("%s  %s  %s  %s  %s"
                                .formatted(one.name(), version, finding.id(), finding.severity(), finding.fixed()));
                    });
                }
            }
        }
        lines.forEach(out::println);
        int all = versions.values().stream().mapToInt(TreeSet::size).sum();
        long withdrawn = advisories.stream().filter(Advisory::withdrawn).count();
        out.printf(
                "%d of %d dependencies are affected; %d advisories were read, %d of them are withdrawn%n",
                affected.size(), all, advisories.size(), withdrawn);
        return affected.isEmpty() ? NONE : AFFECTED;
    }
}
