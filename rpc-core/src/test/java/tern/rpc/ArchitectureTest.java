package tern.rpc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import org.junit.jupiter.api.Test;

/** Checks the permitted dependencies between the packages of rpc-core. */
class ArchitectureTest extends ModuleRules {
    private static final String SERIALIZATION = "tern.rpc.serialization..";
    private static final String ENDPOINT = "tern.rpc.endpoint..";
    private static final String REGISTRY = "tern.rpc.registry..";
    private static final String LIMIT = "tern.rpc.limit..";
    private static final String TRANSPORT = "tern.rpc.transport..";
    private static final String STREAM = "tern.rpc.stream..";
    private static final String METRICS = "tern.rpc.metrics..";
    private static final String CLIENT = "tern.rpc.client..";
    private static final String SERVER = "tern.rpc.server..";

    @Test
    void coreDependsOnNoMessageFormat() {
        check(noClasses()
                .should(dependOn(
                        "com.alibaba.com.caucho..",
                        "com.google..",
                        "io.grpc..",
                        "tools.jackson..",
                        "com.fasterxml.jackson..")));
    }

    @Test
    void coreDependsOnNoOtherModule() {
        check(noClasses()
                .should(dependOn(
                        "tern.rpc.serialization.*..",
                        "tern.rpc.grpc..",
                        "tern.rpc.health..",
                        "tern.rpc.reflection..",
                        "tern.rpc.diagnosis..",
                        "tern.rpc.pool..",
                        "tern.rpc.netty..")));
    }

    @Test
    void reactorStaysInOneClass() {
        check(noClasses()
                .that()
                .doNotHaveFullyQualifiedName("tern.rpc.stream.ReactorShapes")
                .should(dependOn("reactor..", "org.reactivestreams..")));
    }

    @Test
    void baseImportsNoOtherPackage() {
        check(noClasses().that().resideInAPackage(BASE).should(dependOn("tern.rpc.*..")));
    }

    @Test
    void serializationEndpointAndLimitImportBaseOnly() {
        onlySees(SERIALIZATION);
        onlySees(ENDPOINT);
        onlySees(LIMIT);
    }

    @Test
    void registryDependsOnlyOnEndpointsConcurrencyAndSettings() {
        onlySees(REGISTRY, ENDPOINT, "tern.rpc.concurrent..", "tern.rpc.settings..");
    }

    @Test
    void transportImportsNothingAboveIt() {
        onlySees(TRANSPORT, SERIALIZATION, ENDPOINT, LIMIT);
    }

    @Test
    void streamDependsOnlyOnTransport() {
        onlySees(STREAM, TRANSPORT);
    }

    @Test
    void metricsImportsNothingAboveIt() {
        onlySees(METRICS, SERIALIZATION, ENDPOINT, LIMIT, TRANSPORT);
    }

    @Test
    void clusterDependsOnlyOnEndpointsTransportAndLimits() {
        onlySees("tern.rpc.cluster..", ENDPOINT, TRANSPORT, LIMIT);
    }

    @Test
    void clientAndServerDoNotDependOnEachOther() {
        check(noClasses().that().resideInAPackage(CLIENT).should(dependOn(SERVER)));
        check(noClasses().that().resideInAPackage(SERVER).should(dependOn(CLIENT)));
    }

    @Test
    void publicMethodsOfBaseHaveNoForeignTypes() {
        check(methods()
                .that()
                .areDeclaredInClassesThat()
                .resideInAPackage(BASE)
                .and()
                .areDeclaredInClassesThat()
                .arePublic()
                .should(haveOnlyJdkAndOwnTypes()));
    }

    private static ArchCondition<JavaMethod> haveOnlyJdkAndOwnTypes() {
        return new ArchCondition<>("have only types of the JDK and of our own in their signatures") {
            @Override
            public void check(JavaMethod method, ConditionEvents events) {
                boolean seenOutside = method.getModifiers().contains(JavaModifier.PUBLIC)
                        || method.getModifiers().contains(JavaModifier.PROTECTED);
                if (!seenOutside) {
                    return;
                }
                for (JavaClass type : method.getAllInvolvedRawTypes()) {
                    String name = type.getBaseComponentType().getPackageName();
                    boolean known = name.isEmpty() || name.startsWith("java.") || name.startsWith("tern.rpc");
                    if (!known) {
                        events.add(SimpleConditionEvent.violated(
                                method, method.getFullName() + " has " + type.getName() + " in its signature"));
                    }
                }
            }
        };
    }
}
