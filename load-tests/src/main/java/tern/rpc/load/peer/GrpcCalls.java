package tern.rpc.load.peer;

import tern.rpc.load.peer.Peer.Services;
import tern.rpc.load.peer.proto.BenchmarkGrpc.BenchmarkBlockingStub;
import tern.rpc.load.peer.proto.Email;
import tern.rpc.load.peer.proto.Flag;
import tern.rpc.load.peer.proto.PageNumber;
import tern.rpc.load.peer.proto.PersonMessage;
import tern.rpc.load.peer.proto.Text;
import tern.rpc.load.peer.proto.Times;
import tern.rpc.load.peer.proto.UserId;
import tern.rpc.load.peer.proto.UserMessage;
import tern.rpc.load.peer.proto.UserPage;

/** Calls the methods of gRPC's generated stub. The adapter is needed because the stub implements no interface. */
record GrpcCalls(BenchmarkBlockingStub stub) implements ProtobufBenchmark {

    static Services over(BenchmarkBlockingStub stub) {
        return ProtobufCalls.over(new GrpcCalls(stub));
    }

    @Override
    public Flag existUser(Email email) {
        return stub.existUser(email);
    }

    @Override
    public Flag createUser(UserMessage user) {
        return stub.createUser(user);
    }

    @Override
    public UserMessage getUser(UserId id) {
        return stub.getUser(id);
    }

    @Override
    public UserPage listUser(PageNumber pageNo) {
        return stub.listUser(pageNo);
    }

    @Override
    public Text echoText(Text text) {
        return stub.echoText(text);
    }

    @Override
    public PersonMessage echoPerson(PersonMessage person) {
        return stub.echoPerson(person);
    }

    @Override
    public Text build(Times times) {
        return stub.build(times);
    }
}
