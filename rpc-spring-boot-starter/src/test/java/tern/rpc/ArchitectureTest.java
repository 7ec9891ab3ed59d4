package tern.rpc;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.dependOnClassesThat;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/**
 * Checks that each package imports only the packages that it may use. A rule also passes if its package does not exist.
 */
class ArchitectureTest {
    private static final JavaClasses STARTER = new ClassFileImporter().importPath(ownClasses());

    @Test
    void starterKnowsNoNetty() {
        check(noClasses().should(dependOn("io.netty..")));
    }

    @Test
    void grpcStaysInOneClass() {
        check(noClasses()
                .that()
                .doNotHaveFullyQualifiedName("tern.rpc.spring.autoconfigure.GrpcBeans")
                .should(dependOn("io.grpc..", "tern.rpc.grpc..")));
    }

    @Test
    void starterKnowsNoSample() {
        check(noClasses().should(dependOn("tern.rpc.sample..", "tern.rpc.load..")));
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching("tern.rpc.(**)")
                .should()
                .beFreeOfCycles()
                .allowEmptyShould(true)
                .check(STARTER);
    }

    @Test
    void everyPackageIsNullMarked() {
        Set<String> unmarked = new TreeSet<>();

        for (JavaClass type : STARTER) {
            JavaPackage home = type.getPackage();
            if (!home.isAnnotatedWith(NullMarked.class)) {
                unmarked.add(home.getName());
            }
        }

        assertThat(unmarked)
                .as("packages without a package-info.java that says @NullMarked")
                .isEmpty();
    }

    private static ArchCondition<JavaClass> dependOn(String... packages) {
        return dependOnClassesThat(resideInAnyPackage(packages));
    }

    private static void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(STARTER);
    }

    /**
     * Returns the folder that contains this module's main classes. It is needed because the class path also contains
     * classes of other modules.
     */
    private static Path ownClasses() {
        URL testClasses =
                ArchitectureTest.class.getProtectionDomain().getCodeSource().getLocation();
        try {
            return Path.of(testClasses.toURI()).resolveSibling("classes");
        } catch (URISyntaxException e) {
            throw new IllegalStateException("No path in " + testClasses, e);
        }
    }
}
