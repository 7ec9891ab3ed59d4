package tern.rpc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import org.junit.jupiter.api.Test;

class ProtobufArchitectureTest extends ModuleRules {
    private static final String MESSAGES = "tern.rpc.serialization.protobuf..";
    private static final String REFLECTION = "tern.rpc.reflection..";
    private static final String HEALTH = "tern.rpc.health..";
    private static final String GRPC = "tern.rpc.grpc..";

    @Test
    void messagesDependOnSerializationOnly() {
        onlySees(MESSAGES, "tern.rpc.serialization");
    }

    @Test
    void protobufStaysInTwoPackages() {
        only(new String[] {MESSAGES, REFLECTION}, "com.google.protobuf..");
    }

    @Test
    void grpcStaysInItsPackage() {
        only(new String[] {GRPC}, "io.grpc..");
    }

    @Test
    void oneClassTouchesTheLibraryForMessagesInJson() {
        check(noClasses()
                .that()
                .doNotHaveFullyQualifiedName("tern.rpc.serialization.protobuf.MessageJson")
                .should(dependOn("com.google.protobuf.util..", "com.google.gson..", "com.google.common..")));
    }

    @Test
    void builtInServicesDoNotDependOnEachOther() {
        for (String builtIn : new String[] {HEALTH, REFLECTION, GRPC}) {
            onlySees(
                    builtIn,
                    "tern.rpc.concurrent..",
                    "tern.rpc.serialization..",
                    "tern.rpc.endpoint..",
                    "tern.rpc.transport..",
                    "tern.rpc.server..");
            only(new String[] {builtIn}, builtIn);
        }
    }
}
