package tern.rpc;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.lang.conditions.ArchConditions.dependOnClassesThat;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import io.netty.buffer.ByteBuf;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Checks the dependencies between packages. A rule about a package that does not exist passes. */
class ArchitectureTest extends AnyModuleRules {
    /** Matches the names of the classes that implement an HTTP protocol. */
    private static final Pattern PROTOCOL =
            Pattern.compile("(GrpcWeb|Grpc|Connect|Json)(Unary|Stream|Get)?(Form|Encoding)");

    @Test
    void transportDoesNotDependOnSpring() {
        check(noClasses().should(dependOn("org.springframework..")));
    }

    @Test
    void transportDoesNotDependOnAdvice() {
        check(noClasses().should(dependOn("tern.rpc.diagnosis..")));
    }

    @Test
    void protocolsDoNotDependOnEachOther() {
        check(noClasses()
                .that()
                .resideInAPackage("tern.rpc.netty.dubbo..")
                .should(dependOn("tern.rpc.netty.triple..")));
        check(noClasses()
                .that()
                .resideInAPackage("tern.rpc.netty.triple..")
                .should(dependOn("tern.rpc.netty.dubbo..")));
    }

    @Test
    void syntaxOfHttp1DependsOnNoProtocolAndNoConnection() {
        check(noClasses()
                .that()
                .resideInAPackage("tern.rpc.netty.http1")
                .should(dependOn("tern.rpc.netty", "tern.rpc.netty.triple..", "tern.rpc.netty.dubbo..")));
    }

    @Test
    void onlyTheAssemblyDependsOnAllProtocolsOfHttp() {
        Map<String, Set<String>> seen = new TreeMap<>();
        for (JavaClass type : module()) {
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                Matcher protocol = PROTOCOL.matcher(dependency.getTargetClass().getSimpleName());
                if (protocol.matches()) {
                    seen.computeIfAbsent(type.getSimpleName(), added -> new TreeSet<>())
                            .add(protocol.group(1));
                }
            }
        }

        assertThat(seen.get("HttpDispatcher")).containsExactly("Connect", "Grpc", "GrpcWeb", "Json");
        seen.remove("HttpDispatcher");
        assertThat(seen)
                .isNotEmpty()
                .allSatisfy((type, protocols) -> assertThat(protocols).hasSize(1));
    }

    @Test
    void handlersDoNotDependOnTheAssembly() {
        check(noClasses()
                .that()
                .haveSimpleNameEndingWith("Handler")
                .should(dependOnClassesThat(simpleName("HttpDispatcher"))));
    }

    /** {@link ByteBuf#copy()} returns a buffer whose maximum capacity depends on the allocator. */
    @Test
    void copiesOfBuffersCanGrow() {
        check(noClasses()
                .should()
                .callMethod(ByteBuf.class, "copy")
                .orShould()
                .callMethod(ByteBuf.class, "copy", int.class, int.class));
    }
}
