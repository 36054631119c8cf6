"""The network of the containers: public subnets, because a NAT gateway costs more than all of Punctual."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk.acknowledge import acknowledge

ZONES = 2


class Network(Construct):
    """Outbound traffic only: each container has a public address, and the security group blocks inbound traffic."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            max_azs=ZONES,
            nat_gateways=0,
            subnet_configuration=[
                ec2.SubnetConfiguration(
                    name="Public",
                    subnet_type=ec2.SubnetType.PUBLIC,
                    cidr_mask=20,
                    # Only tasks that request a public address get one.
                    map_public_ip_on_launch=False,
                )
            ],
        )
        self.security_group = ec2.SecurityGroup(
            self,
            "Containers",
            vpc=self.vpc,
            description="Punctual containers: outward only",
            allow_all_outbound=True,
        )
        acknowledge(
            self.vpc,
            "AwsSolutions-VPC7",
            "No process in this VPC accepts connections, and containers have their own logs. Flow logs are billed by "
            "the gigabyte; turn them on for this VPC if you need them.",
        )

    @property
    def subnets(self) -> list[str]:
        return [subnet.subnet_id for subnet in self.vpc.public_subnets]
