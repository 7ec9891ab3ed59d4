package tern.rpc;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.dependOnClassesThat;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** Which package may import which. A rule about a package that is not there yet holds. */
class ArchitectureTest {
    private static final String BASE = "tern.rpc";
    private static final String SERIALIZATION = "tern.rpc.serialization..";
    private static final String ENDPOINT = "tern.rpc.endpoint..";
    private static final String LIMIT = "tern.rpc.limit..";
    private static final String TRANSPORT = "tern.rpc.transport..";
    private static final String STREAM = "tern.rpc.stream..";
    private static final String METRICS = "tern.rpc.metrics..";
    private static final String CLIENT = "tern.rpc.client..";
    private static final String SERVER = "tern.rpc.server..";
    private static final String HEALTH = "tern.rpc.health..";
    private static final String REFLECTION = "tern.rpc.reflection..";
    private static final String GRPC = "tern.rpc.grpc..";
    private static final String ADVICE = "tern.rpc.advice..";
    private static final String WAITING = "tern.rpc.waiting..";

    private static final JavaClasses CORE = new ClassFileImporter().importPath(ownClasses());

    @Test
    void coreKnowsNeitherNettyNorSpring() {
        check(noClasses().should(dependOn("io.netty..", "org.springframework..")));
    }

    @Test
    void coreKnowsNoPoolAndNoRegistry() {
        check(noClasses()
                .should(dependOn(
                        "com.alibaba.druid..",
                        "com.zaxxer..",
                        "redis.clients..",
                        "org.apache.zookeeper..",
                        "org.apache.curator..",
                        "com.alibaba.nacos..")));
    }

    @Test
    void hessianStaysInItsPackage() {
        check(noClasses()
                .that()
                .resideOutsideOfPackage("tern.rpc.serialization.hessian..")
                .should(dependOn("com.alibaba.com.caucho..")));
    }

    @Test
    void protobufStaysInItsPackage() {
        check(noClasses()
                .that()
                .resideOutsideOfPackages("tern.rpc.serialization.protobuf..", REFLECTION)
                .should(dependOn("com.google.protobuf..")));
    }

    @Test
    void grpcStaysInItsPackage() {
        check(noClasses().that().resideOutsideOfPackage(GRPC).should(dependOn("io.grpc..")));
    }

    @Test
    void grpcKnowsNoGuava() {
        check(noClasses().should(dependOn("com.google.common..")));
    }

    @Test
    void nobodySeesTheServicesThatAreBuiltIn() {
        for (String builtIn : new String[] {HEALTH, REFLECTION, GRPC}) {
            onlySees(builtIn, SERIALIZATION, ENDPOINT, TRANSPORT, SERVER);
            check(noClasses().that().resideOutsideOfPackage(builtIn).should(dependOn(builtIn)));
        }
    }

    @Test
    void jacksonStaysInItsPackage() {
        check(noClasses()
                .that()
                .resideOutsideOfPackage("tern.rpc.serialization.json..")
                .should(dependOn("tools.jackson..", "com.fasterxml.jackson..")));
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
    void transportImportsNothingAboveIt() {
        onlySees(TRANSPORT, SERIALIZATION, ENDPOINT, LIMIT);
    }

    @Test
    void streamSeesTheTransportsMessagesOnly() {
        onlySees(STREAM, TRANSPORT);
    }

    @Test
    void metricsImportsNothingAboveIt() {
        onlySees(METRICS, SERIALIZATION, ENDPOINT, LIMIT, TRANSPORT);
    }

    @Test
    void clientAndServerNeverSeeEachOther() {
        check(noClasses().that().resideInAPackage(CLIENT).should(dependOn(SERVER)));
        check(noClasses().that().resideInAPackage(SERVER).should(dependOn(CLIENT)));
    }

    @Test
    void adviceSeesBaseOnly() {
        onlySees(ADVICE);
    }

    @Test
    void waitingSeesBaseAndSnapshotsOfPoolsOnly() {
        onlySees(WAITING, ADVICE);
    }

    @Test
    void nobodyElseSeesAdviceAndWaiting() {
        check(noClasses().that().resideOutsideOfPackages(ADVICE, WAITING).should(dependOn(ADVICE, WAITING)));
    }

    @Test
    void hessianAndProtobufNeverSeeEachOther() {
        check(noClasses()
                .that()
                .resideInAPackage("tern.rpc.serialization.hessian..")
                .should(dependOn("tern.rpc.serialization.protobuf..")));
        check(noClasses()
                .that()
                .resideInAPackage("tern.rpc.serialization.protobuf..")
                .should(dependOn("tern.rpc.serialization.hessian..")));
    }

    @Test
    void hessianAndJsonNeverSeeEachOther() {
        check(noClasses()
                .that()
                .resideInAPackage("tern.rpc.serialization.hessian..")
                .should(dependOn("tern.rpc.serialization.json..")));
        check(noClasses()
                .that()
                .resideInAPackage("tern.rpc.serialization.json..")
                .should(dependOn("tern.rpc.serialization.hessian..")));
    }

    @Test
    void protobufDoesNotSeeJson() {
        check(noClasses()
                .that()
                .resideInAPackage("tern.rpc.serialization.protobuf..")
                .should(dependOn("tern.rpc.serialization.json..")));
    }

    @Test
    void oneClassTouchesTheLibraryForMessagesInJson() {
        check(noClasses()
                .that()
                .doNotHaveFullyQualifiedName("tern.rpc.serialization.protobuf.MessageJson")
                .should(dependOn("com.google.protobuf.util..", "com.google.gson..", "com.google.common..")));
    }

    @Test
    void publicMethodsOfBaseHaveNoForeignTypes() {
        methods()
                .that()
                .areDeclaredInClassesThat()
                .resideInAPackage(BASE)
                .and()
                .areDeclaredInClassesThat()
                .arePublic()
                .should(haveOnlyJdkAndOwnTypes())
                .allowEmptyShould(true)
                .check(CORE);
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching("tern.rpc.(**)")
                .should()
                .beFreeOfCycles()
                .allowEmptyShould(true)
                .check(CORE);
    }

    @Test
    void everyPackageIsNullMarked() {
        Set<String> unmarked = new TreeSet<>();

        for (JavaClass type : CORE) {
            JavaPackage home = type.getPackage();
            if (!home.isAnnotatedWith(NullMarked.class)) {
                unmarked.add(home.getName());
            }
        }

        assertThat(unmarked)
                .as("packages without a package-info.java that says @NullMarked")
                .isEmpty();
    }

    /** The given package sees itself, base, and the others named. */
    private static void onlySees(String watched, String... others) {
        DescribedPredicate<JavaClass> ours = resideInAPackage("tern.rpc.*..");
        DescribedPredicate<JavaClass> allowed =
                resideInAPackage(watched).or(resideInAnyPackage(others)).as(watched + ", " + String.join(", ", others));
        check(noClasses()
                .that()
                .resideInAPackage(watched)
                .should(dependOnClassesThat(ours.and(DescribedPredicate.not(allowed)))));
    }

    private static ArchCondition<JavaClass> dependOn(String... packages) {
        return dependOnClassesThat(resideInAnyPackage(packages));
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

    private static void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(CORE);
    }

    /** The main classes of this module alone; the class path has those of the others as well. */
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
