package tern.rpc.load;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** Checks the dependencies between the packages of rpc-load. */
class ArchitectureTest {

    private static final JavaClasses LOAD = new ClassFileImporter().importPath(ownClasses());

    @Test
    void driverDependsNeitherOnTheGateNorOnTheKindOfCalls() {
        noClasses()
                .that()
                .resideInAPackage("tern.rpc.load")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("tern.rpc.load.gate..", "java.net..", "tools.jackson..")
                .check(LOAD);
    }

    @Test
    void everyPackageIsNullMarked() {
        assertThat(LOAD)
                .isNotEmpty()
                .extracting(JavaClass::getPackage)
                .allMatch(home -> home.isAnnotatedWith(NullMarked.class));
    }

    /**
     * Returns the folder with this module's main classes. The test reads only this folder, because the class path also
     * contains classes of other modules.
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
