package tern.rpc.spring.firstday;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * The class path of an application whose only dependency is the starter. The list of artifacts comes from the poms in
 * the local repository. The jars come from the class path of this test.
 */
final class StarterJars {

    /**
     * Artifacts that third-party libraries need only for their own tests. The scope of these artifacts is declared in
     * the parent poms of the libraries.
     */
    private static final Set<String> OF_OUR_TESTS =
            Set.of("org.mockito:mockito-core", "commons-io:commons-io", "com.google.code.gson:gson");

    private static final List<Path> MODULES = Stream.of(
                    "rpc-core",
                    "rpc-hessian",
                    "rpc-protobuf",
                    "rpc-json",
                    "rpc-insight",
                    "rpc-insight-spring-boot-starter",
                    "rpc-transport",
                    "rpc-spring-boot-starter")
            .map(module -> Path.of("..", module))
            .toList();

    private final Map<String, Path> jars = new LinkedHashMap<>(); // the jars by group:artifact

    // the folder of main classes of each module, by the module's folder
    private final Map<Path, Path> classes = new LinkedHashMap<>();
    private final List<Path> more = new ArrayList<>();

    private StarterJars() {}

    static StarterJars resolve() throws Exception {
        List<Path> own = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .toList();
        StarterJars resolved = new StarterJars();
        Deque<String> left = new ArrayDeque<>();
        Set<String> known = new HashSet<>();
        for (Path module : MODULES) {
            left.addAll(dependencies(module.resolve("pom.xml")));
            Path classes = own.stream()
                    .filter(path -> isMainOf(module, path))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(module + " is not on the class path"));
            resolved.classes.put(module, classes);
        }
        while (!left.isEmpty()) {
            String artifact = left.pop();
            if (known.add(artifact) && !artifact.startsWith("io.github.tern-rpc:")) {
                Optional<Path> found = jar(own, artifact);
                if (found.isPresent()) {
                    Path jar = found.get();
                    resolved.jars.put(artifact, jar);
                    String pom = jar.getFileName().toString().replaceAll("\\.jar$", ".pom");
                    left.addAll(dependencies(jar.resolveSibling(pom)));
                }
            }
        }
        return resolved;
    }

    /**
     * Returns whether the path is the folder of a module's main classes or, if the module was packaged, the module's
     * jar.
     */
    private static boolean isMainOf(Path module, Path path) {
        Path folder = module.toAbsolutePath().normalize();
        return path.startsWith(folder)
                && !path.endsWith("test-classes")
                && !path.getFileName().toString().contains("-tests");
    }

    /** Returns the jar of an artifact. Returns an empty result if the artifact is needed only for tests. */
    private static Optional<Path> jar(List<Path> own, String artifact) {
        if (OF_OUR_TESTS.contains(artifact)) {
            return Optional.empty();
        }
        String[] names = artifact.split(":");
        Path folder = Path.of(names[0].replace('.', '/'), names[1]);
        return own.stream()
                .filter(path ->
                        path.getNameCount() > 2 && path.getParent().getParent().endsWith(folder))
                .findFirst();
    }

    /**
     * Returns the dependencies that other projects inherit: all except optional and test dependencies.
     */
    private static List<String> dependencies(Path pom) throws Exception {
        Element project = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(pom.toFile())
                .getDocumentElement();
        String group = text(project, "groupId", text(child(project, "parent"), "groupId", ""));
        List<String> found = new ArrayList<>();
        for (Element dependency : children(child(project, "dependencies"))) {
            String scope = text(dependency, "scope", "compile");
            boolean inherited = scope.equals("compile") || scope.equals("runtime");
            if (inherited
                    && text(dependency, "optional", "false").equals("false")
                    && text(dependency, "classifier", "").isEmpty()) {
                found.add(text(dependency, "groupId", "").replace("${project.groupId}", group) + ":"
                        + text(dependency, "artifactId", ""));
            }
        }
        return found;
    }

    private static Element child(Element parent, String name) {
        return children(parent).stream()
                .filter(element -> element.getTagName().equals(name))
                .findFirst()
                .orElse(null);
    }

    private static List<Element> children(Element parent) {
        List<Element> found = new ArrayList<>();
        NodeList nodes = parent == null ? null : parent.getChildNodes();
        for (int i = 0; nodes != null && i < nodes.getLength(); i++) {
            if (nodes.item(i).getNodeType() == Node.ELEMENT_NODE) {
                found.add((Element) nodes.item(i));
            }
        }
        return found;
    }

    private static String text(Element parent, String name, String otherwise) {
        Element element = parent == null ? null : child(parent, name);
        return element == null ? otherwise : element.getTextContent().strip();
    }

    /** Removes modules of Tern, as an exclusion in a pom does. */
    StarterJars without(String... modules) {
        for (String module : modules) {
            assertThat(classes.remove(Path.of("..", module))).as(module).isNotNull();
        }
        return this;
    }

    /** Adds the gRPC libraries and the generated services of the tests. */
    StarterJars withGrpc() {
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path path = Path.of(entry);
            String text = path.toAbsolutePath().normalize().toString().replace(File.separatorChar, '/');
            boolean generated = text.contains("/rpc-protobuf/") && !isMainOf(Path.of("..", "rpc-protobuf"), path);
            if (generated || text.contains("/io/grpc/") || text.contains("/com/google/")) {
                more.add(path);
            }
        }
        return this;
    }

    /** Returns the group and artifact of each third-party jar. */
    Set<String> artifacts() {
        return jars.keySet();
    }

    /**
     * Runs an application with only these jars until it exits.
     *
     * @param main the main class, in a package of the tests
     * @param folder an empty folder to which the classes are copied, because the folder of the tests also contains
     *     logging settings
     * @return the text written to standard output and standard error
     */
    String run(Path folder, Class<?> main, String... arguments) throws Exception {
        copyClasses(main, folder);
        String classPath = Stream.of(
                        Stream.of(folder), classes.values().stream(), jars.values().stream(), more.stream())
                .flatMap(paths -> paths)
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath,
                main.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            process.destroyForcibly();
        }
    }

    private static void copyClasses(Class<?> main, Path to) throws Exception {
        Path from =
                Path.of(main.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path topPackage = from.resolve(main.getName().split("\\.")[0]);
        try (Stream<Path> files = Files.walk(topPackage)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copy = to.resolve(from.relativize(file).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
    }
}
