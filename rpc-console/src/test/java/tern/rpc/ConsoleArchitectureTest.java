package tern.rpc;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.dependOnClassesThat;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import java.net.URISyntaxException;
import java.nio.file.Path;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

class ConsoleArchitectureTest {

    private static final JavaClasses MODULE = new ClassFileImporter().importPath(ownClasses());

    @Test
    void moduleKnowsNeitherNettyNorTheDiagnosis() {
        check(noClasses()
                .should(dependOn("io.netty..", "tern.rpc.netty..", "tern.rpc.diagnosis..", "tern.rpc.pool..")));
    }

    @Test
    void callsKnowNoSpring() {
        check(noClasses()
                .that()
                .haveNameMatching(".*\\.(ConsoleCall|ConsoleStream|ConsoleTransport|RequestRules)(\\$.*)?")
                .should(dependOn("org.springframework..")));
    }

    @Test
    void servletsAndReactorStayInTheirFilters() {
        check(noClasses().that().haveNameNotMatching(".*Servlet.*").should(dependOn("jakarta.servlet..")));
        check(noClasses().that().haveNameNotMatching(".*WebFilter.*").should(dependOn("reactor..")));
    }

    @Test
    void filesKnowEachOtherInSmallCircles() {
        assertThat(Circles.in(MODULE)).allSatisfy(circle -> assertThat(circle).hasSizeLessThanOrEqualTo(10));
    }

    @Test
    void everyPackageIsNullMarked() {
        assertThat(MODULE.stream().map(JavaClass::getPackage).distinct())
                .allSatisfy(home -> assertThat(home.isAnnotatedWith(NullMarked.class))
                        .as(home.getName())
                        .isTrue());
    }

    private static ArchCondition<JavaClass> dependOn(String... packages) {
        return dependOnClassesThat(resideInAnyPackage(packages));
    }

    private void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(MODULE);
    }

    private static Path ownClasses() {
        try {
            return Path.of(ConsoleArchitectureTest.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .resolveSibling("classes");
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
