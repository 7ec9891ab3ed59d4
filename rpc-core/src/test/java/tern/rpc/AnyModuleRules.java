package tern.rpc;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.dependOnClassesThat;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
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
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/**
 * The architecture rules for every module. Each module has a subclass that adds rules. All tests of a class share one
 * instance, because reading the classes takes most of the time.
 */
@TestInstance(Lifecycle.PER_CLASS)
public abstract class AnyModuleRules {

    protected static final String BASE = "tern.rpc";

    private final JavaClasses module = new ClassFileImporter().importPath(ownClasses());

    @Test
    void packagesHaveNoCycles() {
        check(slices().matching("tern.rpc.(**)").should().beFreeOfCycles());
    }

    @Test
    void circlesOfFilesAreSmall() {
        assertThat(Circles.in(module))
                .allSatisfy(circle -> assertThat(circle).hasSizeLessThanOrEqualTo(mostInACircle()));
    }

    /** Returns the maximum permitted number of files in a dependency cycle within a package. */
    protected int mostInACircle() {
        return 10;
    }

    @Test
    void everyPackageIsNullMarked() {
        Set<String> unmarked = new TreeSet<>();

        for (JavaClass type : module) {
            JavaPackage home = type.getPackage();
            if (!home.isAnnotatedWith(NullMarked.class)) {
                unmarked.add(home.getName());
            }
        }

        assertThat(unmarked)
                .as("packages without a package-info.java that says @NullMarked")
                .isEmpty();
    }

    /** Checks that no class outside the given packages depends on one of the libraries. */
    protected final void only(String[] homes, String... libraries) {
        check(noClasses().that().resideOutsideOfPackages(homes).should(dependOn(libraries)));
    }

    /** Checks that the watched package depends only on the base package and the given packages of Tern. */
    protected final void onlySees(String watched, String... others) {
        DescribedPredicate<JavaClass> ours = resideInAPackage("tern.rpc.*..");
        DescribedPredicate<JavaClass> allowed =
                resideInAPackage(watched).or(resideInAnyPackage(others)).as(watched + ", " + String.join(", ", others));
        check(noClasses()
                .that()
                .resideInAPackage(watched)
                .should(dependOnClassesThat(ours.and(DescribedPredicate.not(allowed)))));
    }

    protected static ArchCondition<JavaClass> dependOn(String... packages) {
        return dependOnClassesThat(resideInAnyPackage(packages));
    }

    /** Returns all classes of the module except its test classes. */
    protected final JavaClasses module() {
        return module;
    }

    protected final void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(module);
    }

    /**
     * Returns the folder of the module's main classes. The tests read only this folder, because the class path also
     * contains classes of other modules.
     */
    private Path ownClasses() {
        URL testClasses = getClass().getProtectionDomain().getCodeSource().getLocation();
        try {
            return Path.of(testClasses.toURI()).resolveSibling("classes");
        } catch (URISyntaxException e) {
            throw new IllegalStateException("No path in " + testClasses, e);
        }
    }
}
